//! Folding: one plain lower-case letter for every dressed-up one, so that trivial obfuscation does not slip by.

/// What a character becomes before words are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folded {
    /// It is left out: it only hides or decorates.
    Dropped,
    /// It stands for this character.
    Plain(char),
}

/// Folds one character: case, width, mathematical and circled letters, accents, look-alikes, invisible characters.
pub fn fold(c: char) -> Folded {
    let plain = match c {
        '\0'..='\x7f' => c.to_ascii_lowercase(),
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            return Folded::Dropped;
        }
        '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => return Folded::Dropped,
        // Tag characters spell ASCII: what they hide is read like the rest.
        '\u{e0020}'..='\u{e007e}' => ascii(c as u32 - 0xe0000),
        '\u{e0000}'..='\u{e001f}' | '\u{e007f}' => return Folded::Dropped,
        '\u{ff01}'..='\u{ff5e}' => ascii(c as u32 - 0xfee0),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' => '"',
        '\u{2010}' | '\u{2011}' => '-',
        '\u{24b6}'..='\u{24e9}' => letter((c as u32 - 0x24b6) % 26),
        '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}' | '\u{1f170}'..='\u{1f189}' => {
            letter((c as u32 - 0x1f130) % 32)
        }
        '\u{1d400}'..='\u{1d6a3}' => letter((c as u32 - 0x1d400) % 26),
        _ => look_alike(c).or_else(|| unaccented(c)).unwrap_or(c),
    };
    Folded::Plain(plain)
}

fn ascii(code: u32) -> char {
    char::from_u32(code).map_or(' ', |c| c.to_ascii_lowercase())
}

fn letter(index: u32) -> char {
    ascii(u32::from(b'a') + index.min(25))
}

/// The Latin letter a Cyrillic or Greek one is mistaken for, lower case.
pub fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'А' | 'Α' => 'a',
        'В' | 'Β' => 'b',
        'с' | 'С' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'Ε' | 'ҽ' => 'e',
        'Н' | 'һ' | 'Η' => 'h',
        'і' | 'І' | 'Ι' => 'i',
        'ј' | 'Ј' => 'j',
        'К' | 'Κ' => 'k',
        'ӏ' => 'l',
        'М' | 'Μ' => 'm',
        'Ν' | 'ո' => 'n',
        'о' | 'О' | 'ο' | 'Ο' => 'o',
        'р' | 'Р' | 'Ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' | 'Ѕ' => 's',
        'Т' | 'Τ' => 't',
        'ս' => 'u',
        'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'Х' | 'Χ' => 'x',
        'у' | 'У' | 'Υ' => 'y',
        'Ζ' => 'z',
        _ => return None,
    })
}

fn unaccented(c: char) -> Option<char> {
    Some(match c {
        'à'..='å' | 'À'..='Å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'Ç' | 'ć' | 'č' => 'c',
        'è'..='ë' | 'È'..='Ë' | 'ē' | 'ė' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'Ì'..='Ï' | 'ī' | 'ı' => 'i',
        'ñ' | 'Ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'Ò'..='Ö' | 'ø' | 'Ø' | 'ō' | 'ő' => 'o',
        'ù'..='ü' | 'Ù'..='Ü' | 'ū' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' | 'Ý' => 'y',
        'ś' | 'š' | 'ş' => 's',
        'ź' | 'ż' | 'ž' => 'z',
        'ř' => 'r',
        'ğ' | 'ġ' => 'g',
        'ľ' | 'ł' => 'l',
        'ť' => 't',
        'ď' => 'd',
        _ => return None,
    })
}
