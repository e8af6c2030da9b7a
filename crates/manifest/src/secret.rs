//! What must not be written down: keys whose values are secrets, and texts that look like one.

/// Last words of keys whose values are secrets.
const SECRET_WORDS: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secrets",
    "token",
    "credential",
    "credentials",
    "authorization",
    "cookie",
    "apikey",
    "privatekey",
];

/// Words before `key` that make it a secret.
const SECRET_KEYS: [&str; 7] = ["api", "access", "private", "secret", "signing", "encryption", "auth"];

/// How the secrets of well-known services begin, and what their likes are called.
const SECRET_BEGINNINGS: [&str; 14] = [
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-ant-",
    "sk-proj-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "eyJhbGciOi",
];

/// Shortest text that is taken for a secret by its beginning.
const SECRET_CHARS_MIN: usize = 16;

/// Whether what stands under this key is a secret, by the key's last words: `apiKey`, `GITHUB_TOKEN`, `db.password`.
#[must_use]
pub fn is_secret_key(key: &str) -> bool {
    let words = words(key);
    let Some(last) = words.last() else { return false };
    if SECRET_WORDS.contains(&last.as_str()) {
        return true;
    }
    let before = words.len().checked_sub(2).and_then(|index| words.get(index));
    last == "key" && before.is_some_and(|word| SECRET_KEYS.contains(&word.as_str()))
}

/// Whether a text is a secret by its looks, whatever key it stands under.
#[must_use]
pub fn looks_secret(text: &str) -> bool {
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----") {
        return true;
    }
    let begins = |word: &str| {
        word.len() >= SECRET_CHARS_MIN
            && SECRET_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
    };
    text.split(|c: char| c.is_whitespace() || matches!(c, '=' | ',' | '"' | '\'' | ':')).any(begins)
        || has_password(text)
}

/// Whether an address in a text has a password: `https://user:password@host`.
fn has_password(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ', '\n']).next().unwrap_or_default();
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
    })
}

/// The words of a key, in lower case: cut where a capital follows a small letter and at what is no letter or digit.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in key.chars() {
        let is_cut = !letter.is_alphanumeric();
        if is_cut || (letter.is_uppercase() && was_small) {
            words.push(String::new());
        }
        if !is_cut && let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves RES-011.
    #[test]
    fn keys_of_secrets_are_known_by_their_last_words() {
        for key in [
            "password",
            "dbPassword",
            "DB_PASSWORD",
            "api_key",
            "apiKey",
            "apikey",
            "X-Api-Key",
            "Authorization",
            "proxy-authorization",
            "GITHUB_TOKEN",
            "token",
            "clientSecret",
            "credentials",
            "Set-Cookie",
            "private-key",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(is_secret_key(key), "{key}");
        }
        for key in [
            "maxTokens",
            "tokens",
            "token_limit",
            "tokenFile",
            "secretName",
            "key",
            "publicKey",
            "keys",
            "",
            "*",
        ] {
            assert!(!is_secret_key(key), "{key}");
        }
    }

    /// Proves RES-011.
    #[test]
    fn texts_that_are_secrets_are_known_by_their_looks() {
        let token = format!("ghp_{}", "a".repeat(36));
        for text in [
            token.clone(),
            format!("Bearer {token}"),
            format!("--token={token}"),
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE".to_owned(),
            "postgres://app:hunter2@db/x".to_owned(),
        ] {
            assert!(looks_secret(&text), "{text}");
        }
        for text in ["", "ghp_short", "https://host/a@b:c", "https://user@host/", "skeleton", "a: b"] {
            assert!(!looks_secret(text), "{text}");
        }
    }
}
