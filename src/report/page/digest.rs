//! What a page's policy names its script and its style by: SHA-256 in base 64.
//!
//! FIPS 180-4 (2015), sections 4 to 6; RFC 4648, section 4.

const FIRST: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

const ROUNDS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// The source of a policy that allows just this script or style: `'sha256-...'`.
pub(super) fn policy_source(text: &str) -> String {
    format!("'sha256-{}'", base64(&sha256(text.as_bytes())))
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u64).wrapping_mul(8).to_be_bytes());
    let state = padded.as_chunks::<64>().0.iter().fold(FIRST, compressed);
    state.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The standard's a to h are the places of `now`.
fn compressed(state: [u32; 8], block: &[u8; 64]) -> [u32; 8] {
    let mut now = state;
    for (round, word) in ROUNDS.iter().zip(schedule(block)) {
        let sum = now[4].rotate_right(6) ^ now[4].rotate_right(11) ^ now[4].rotate_right(25);
        let choice = (now[4] & now[5]) ^ (!now[4] & now[6]);
        let first = [sum, choice, *round, word].into_iter().fold(now[7], u32::wrapping_add);
        let sum = now[0].rotate_right(2) ^ now[0].rotate_right(13) ^ now[0].rotate_right(22);
        let majority = (now[0] & now[1]) ^ (now[0] & now[2]) ^ (now[1] & now[2]);
        now.rotate_right(1);
        now[4] = now[4].wrapping_add(first);
        now[0] = first.wrapping_add(sum).wrapping_add(majority);
    }
    let mut next = state;
    for (word, new) in next.iter_mut().zip(now) {
        *word = word.wrapping_add(new);
    }
    next
}

fn schedule(block: &[u8; 64]) -> [u32; 64] {
    let mut words = [0; 64];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for at in 16..64 {
        let (x, y) = (words[at - 15], words[at - 2]);
        let small = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
        let large = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
        words[at] =
            [words[at - 7], small, large].into_iter().fold(words[at - 16], u32::wrapping_add);
    }
    words
}

/// Bytes in base 64 with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let number = (0..3).fold(0, |number, at| {
            (number << 8) | chunk.get(at).map_or(0, |&byte| usize::from(byte))
        });
        for place in 0..4 {
            let sign = SIGNS[(number >> (18 - 6 * place)) & 63];
            text.push(if place <= chunk.len() { char::from(sign) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of FIPS 180-2, appendix B, and the digest of nothing.
    #[test]
    fn digests_are_those_of_the_standard() {
        let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap();
        let hex = |text: &str| -> String {
            let bytes = sha256(text.as_bytes());
            bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect()
        };
        for (text, digest) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (
                &"a".repeat(1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ),
        ] {
            assert_eq!(hex(text), digest);
        }
    }

    /// The examples of RFC 4648, section 10.
    #[test]
    fn base_64_is_that_of_the_standard() {
        for (text, encoded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }
}
