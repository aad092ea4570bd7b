//! The signature of a request, as Standard Webhooks has it: HMAC-SHA256 over `id.timestamp.body`, in base64 after `v1,`. So a
//! receiver can use a ready-made library, knows who sent it, and that it was not sent before.

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::STANDARD};

/// What a secret begins with that is written in base64, as those libraries give them out.
const ENCODED: &str = "whsec_";

/// The key behind a secret.
pub struct Key(hmac::Key);

impl Key {
    pub fn new(secret: &str) -> Self {
        let decoded = secret.strip_prefix(ENCODED).and_then(|text| STANDARD.decode(text).ok());
        let bytes = decoded.unwrap_or_else(|| secret.as_bytes().to_vec());
        Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
    }

    /// The value of `webhook-signature`.
    pub fn sign(&self, id: &str, timestamp: &str, body: &str) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        for part in [id, ".", timestamp, ".", body] {
            context.update(part.as_bytes());
        }
        format!("v1,{}", STANDARD.encode(context.sign()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's own libraries.
    #[test]
    fn the_signature_is_the_one_that_others_compute() {
        let key = Key::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let signed = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_that_is_not_encoded_is_taken_as_it_is() {
        let plain = Key::new("a plain secret").sign("i", "1", "{}");
        let encoded = Key::new(&format!("whsec_{}", STANDARD.encode("a plain secret"))).sign("i", "1", "{}");
        assert_eq!(plain, encoded);
    }
}
