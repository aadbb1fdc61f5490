//! Registrations of each language, mentions that are none, and the bounds of the walk.

use std::fs;

use super::*;

struct Checkout(tempfile::TempDir);

impl Checkout {
    fn new(files: &[(&str, &str)]) -> Self {
        let checkout = Self(tempfile::tempdir().expect("a directory"));
        files.iter().for_each(|(path, text)| checkout.write(path, text));
        checkout
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.0.path().join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(file, text).expect("a file");
    }

    fn find(&self, tools: &[(&str, &str)]) -> Vec<String> {
        let tools: Vec<_> = tools.iter().map(|(server, tool)| ((*server).to_owned(), (*tool).to_owned())).collect();
        let places = find(self.0.path(), &tools);
        places
            .registered
            .iter()
            .map(|((server, tool), place)| format!("{server}/{tool} {}:{}", place.path, place.line))
            .collect()
    }
}

/// The line that registers `read_file` in a file of that name, `None` when no line does.
fn line(name: &str, text: &str) -> Option<u32> {
    let checkout = Checkout::new(&[(name, text)]);
    let tools = [("s".to_owned(), "read_file".to_owned())];
    find(checkout.0.path(), &tools).of("s", "read_file").map(|place| place.line)
}

#[test]
fn each_language_has_its_ways() {
    for (name, text, expected) in [
        ("a.ts", "x\nserver.registerTool(\"read_file\", {\n", 2),
        ("a.ts", "server.registerTool(\n  'read_file',\n  {", 2),
        ("a.ts", "server.tool<Args>(`read_file`, schema)", 1),
        (
            "a.js",
            "const tools = [\n  {\n    name: \"read_file\",\n    description: \"Reads\",\n    inputSchema: {},\n  },\n]",
            3,
        ),
        ("a.mjs", "tools: [{ name: 'read_file', description: 'd' }]", 1),
        ("a.ts", "export const READ_FILE_TOOL = 'read_file';", 1),
        ("a.ts", "server.addTool({\n  name: \"read_file\",\n  execute,\n})", 2),
        ("a.py", "@mcp.tool()\nasync def read_file(path: str) -> str:\n", 2),
        ("a.py", "@mcp.tool(\n    description=\"Reads\",\n)\n@logged\ndef read_file(\n", 5),
        ("a.py", "@server.tool(\"read_file\")\ndef impl(path): ...\n", 1),
        ("a.py", "@mcp.tool(name=\"read_file\")\ndef impl(path): ...\n", 1),
        ("a.py", "    types.Tool(\n        name=\"read_file\",\n        description=\"d\",\n", 2),
        ("a.py", "return [Tool(name='read_file', inputSchema={})]", 1),
        ("a.py", "class FileTools(str, Enum):\n    WRITE = \"write\"\n    READ = \"read_file\"\n", 3),
        ("a.ts", "enum ToolName {\n  READ = 'read_file',\n}", 2),
        ("a.rs", "#[tool(description = \"Reads\")]\nasync fn read_file(&self) {}", 2),
        ("a.rs", "#[tool(name = \"read_file\", description = \"d\")]\nfn read(&self) {}", 1),
        ("a.rs", "Tool::new(\"x\")\nlet t = Tool {\n    name: \"read_file\".into(),\n    input_schema,\n};", 3),
        ("a.go", "t := mcp.NewTool(\"read_file\",\n\tmcp.WithDescription(\"d\"))", 1),
        ("a.go", "mcp.AddTool(server, &mcp.Tool{Name: \"read_file\", Description: \"d\"}, read)", 1),
        ("a.go", "mcp.AddTool(s, &mcp.Tool{\n\tName:        \"read_file\",\n\tDescription: \"d\",\n}, read)", 2),
        (
            "a.cs",
            "[McpServerTool(Name = \"read_file\"), Description(\"d\")]\npublic static string Read(string p) => p;",
            1,
        ),
        (
            "a.cs",
            "[McpServerTool, Description(\"Reads (a file)\")]\npublic static async Task<string> ReadFileAsync(string p)",
            2,
        ),
        ("a.java", "@Tool(description = \"d\")\npublic String read_file(String path) {", 2),
        ("a.java", "new McpSchema.Tool(\"read_file\", \"d\", schema)", 1),
        ("a.kt", "server.addTool(\n    name = \"read_file\",\n    description = \"d\",\n) {", 2),
        ("a.rb", "class ReadFile < MCP::Tool\n  tool_name \"read_file\"\n", 2),
        ("a.php", "#[McpTool(name: 'read_file')]\npublic function read(string $p)", 1),
        ("a.php", "#[McpTool]\npublic function read_file(string $p)", 2),
        ("a.swift", "Tool(name: \"read_file\", description: \"d\", inputSchema: schema)", 1),
        ("a.dart", "registerTool(Tool(name: 'read_file', inputSchema: schema), read);", 1),
    ] {
        assert_eq!(line(name, text), Some(expected), "{name}: {text}");
    }
}

#[test]
fn a_mention_is_no_registration() {
    for (name, text) in [
        ("a.ts", "// server.tool(\"read_file\")\nconst tool = 1"),
        ("a.ts", "switch (tool) {\n  case \"read_file\":\n"),
        ("a.ts", "if (request.params.name === \"read_file\") callTool()"),
        ("a.ts", "await client.callTool({ name: \"read_file\", arguments: { inputSchema: 1 } })"),
        ("a.ts", "const r = await client.callTool({\n  name: \"read_file\",\n  description: 'x',\n})\nlet tools"),
        ("a.ts", "expect(tools).toContain(\"read_file\")"),
        ("a.ts", "const user = { name: \"read_file\" };\nlet tool;"),
        ("a.js", "const tool = {\n  description: 'e.g. {\"name\": \"read_file\"}',\n  inputSchema: {} }"),
        ("a.py", "class Color(str, Enum):\n    READ = \"read_file\"\ntool = 1\n"),
        ("a.py", "@mcp.tool(name=\"other\")\ndef read_file(path): ...\n"),
        ("a.py", "@mcp.tool(\"other\")\ndef read_file(path): ...\n"),
        ("a.py", "@mcp.prompt()\ndef read_file(path): ...\ntool = 1\n"),
        ("a.py", "# @mcp.tool()\ndef read_file(path): ...\n"),
        ("a.rs", "#[tool(name = \"other\")]\nfn read_file(&self) {}"),
        ("a.rs", "assert_eq!(tool.name, \"read_file\");"),
        ("a.go", "if req.Params.Name == \"read_file\" { tool() }"),
        ("a.cs", "[McpServerToolType]\npublic static class ReadFile { void read_file() {} }"),
        ("a.md", "server.tool(\"read_file\")"),
        ("a.json", "{\"tools\": [{\"name\": \"read_file\", \"inputSchema\": {}}]}"),
        ("a.ts", "server.tool(\"read_file_now\")"),
    ] {
        assert_eq!(line(name, text), None, "{name}: {text}");
    }
}

#[test]
fn the_sources_win_over_tests_and_examples() {
    let register = "server.tool(\"read_file\", x)\n";
    let mut files = vec![("tests/a.ts", register), ("examples/a.ts", register), ("src/z.ts", register)];
    assert_eq!(Checkout::new(&files).find(&[("s", "read_file")]), ["s/read_file src/z.ts:1"]);
    files.pop();
    assert_eq!(Checkout::new(&files).find(&[("s", "read_file")]), ["s/read_file examples/a.ts:1"]);
    assert_eq!(Checkout::new(&files[..1]).find(&[("s", "read_file")]), ["s/read_file tests/a.ts:1"]);
}

#[test]
fn two_equal_places_are_none() {
    let register = "server.tool(\"read_file\", x)\n";
    assert!(Checkout::new(&[("a.ts", register), ("b.ts", register)]).find(&[("s", "read_file")]).is_empty());
    assert!(Checkout::new(&[("a.ts", &register.repeat(2))]).find(&[("s", "read_file")]).is_empty());
    // A certain one next to a less certain one is not ambiguous.
    let files = [("a.ts", register), ("b.ts", "const READ_TOOL = \"read_file\"\n")];
    assert_eq!(Checkout::new(&files).find(&[("s", "read_file")]), ["s/read_file a.ts:1"]);
}

#[test]
fn a_name_of_two_servers_is_found_where_the_path_says_whose_it_is() {
    let register = "server.tool(\"search\", x)\nserver.tool(\"only\", x)\n";
    let checkout = Checkout::new(&[("servers/git_hub/index.ts", register)]);
    let tools = [("git-hub", "search"), ("git-hub", "only"), ("web", "search")];
    assert_eq!(
        checkout.find(&tools),
        ["git-hub/only servers/git_hub/index.ts:2", "git-hub/search servers/git_hub/index.ts:1"]
    );
    // One server in two configurations has the same tools in both.
    let twice = [("a", "search"), ("a", "only"), ("b", "search"), ("b", "only")];
    assert_eq!(checkout.find(&twice).len(), 4);
}

#[test]
fn what_others_wrote_or_a_link_leads_to_is_not_read() {
    let register = "server.tool(\"read_file\", x)\n";
    let checkout = Checkout::new(&[
        ("node_modules/a/index.js", register),
        ("dist/index.js", register),
        (".venv/a.ts", register),
        ("src/a.min.js", register),
        ("src/long.js", &format!("{register}{}", "x".repeat(5_000))),
        ("src/big.js", &format!("{register}{}", "x;\n".repeat(400_000))),
        ("src/binary.js", &format!("{register}\0")),
        ("src/gen.js", &format!("// Code generated by x\n{register}")),
    ]);
    let elsewhere = Checkout::new(&[("a.ts", register)]);
    #[cfg(unix)]
    for (name, to) in [("linked", elsewhere.0.path().to_owned()), ("linked.ts", elsewhere.0.path().join("a.ts"))] {
        std::os::unix::fs::symlink(to, checkout.0.path().join(name)).expect("a link");
    }
    assert!(checkout.find(&[("s", "read_file")]).is_empty());
    assert!(find(std::path::Path::new("/nonexistent"), &[("s".to_owned(), "x".to_owned())]).registered.is_empty());
}

#[test]
fn five_thousand_tools_are_looked_up_in_one_pass() {
    let file = |number: usize| {
        let calls =
            (0..50).map(|tool| format!("  server.tool(\"tool_{}\", schema, async () => 1);\n", number * 50 + tool));
        calls
            .chain((0..900).map(|line| format!("  const value{line} = 'some text' + \"other\";\n")))
            .collect::<String>()
    };
    let checkout = Checkout::new(&[]);
    (0..200).for_each(|number| checkout.write(&format!("src/{number}.ts"), &file(number)));
    let tools: Vec<_> = (0..5_000).map(|number| ("s".to_owned(), format!("tool_{number}"))).collect();
    let started = std::time::Instant::now();
    let places = find(checkout.0.path(), &tools);
    eprintln!("5 000 tools in 8 MB: {:?}", started.elapsed());
    assert_eq!(places.registered.len(), 5_000);
    assert_eq!(places.of("s", "tool_4999").map(|place| (place.path.as_str(), place.line)), Some(("src/99.ts", 50)));
    assert!(started.elapsed() < std::time::Duration::from_secs(10), "{:?}", started.elapsed());
}
