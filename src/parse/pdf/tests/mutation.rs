//! Files broken at random: whatever their bytes, an answer or an error comes back.

use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::builder::{Page, file, quad, texts};
use crate::parse::pdf::{PdfError, PdfOptions, parse_pdf};

/// A small file with something of everything.
fn seed_file() -> Vec<u8> {
    let mut page = Page::of(&[
        (72.0, 740.0, "Alvarez 1"),
        (108.0, 700.0, "so it goes and then it goes on and so it goes"),
        (72.0, 688.0, "and on the next line it goes on and on and on."),
    ]);
    page.draw(120.0, 692.0, 6.0, "1");
    page.draw(72.0, 90.0, 8.0, "1 See there.");
    let quads = quad(72.0, 688.0, 3, 7);
    let form = "0.5 1 0.5 rg 72 698 54 10 re f";
    let form = format!(
        "<< /Subtype /Form /BBox [72 686 444 708] /Length {} >>\nstream\n{form}\nendstream",
        form.len()
    );
    let page = page
        .with(&format!("/Subtype /Highlight /QuadPoints [{quads}] /Rect [72 686 444 708] /AP << /N 90 0 R >> /C [1 1 0]"))
        .with("/Subtype /Text /IRT 1000 0 R /Contents <FEFF00DC> /Rect [72 690 90 700]")
        .with("/Subtype /Text /RC (<p>a &amp; b</p>) /Rect [72 690 90 700]");
    let second = Page::of(&[(108.0, 700.0, "and another page."), (480.0, 740.0, "Alvarez 2")]);
    file(&[page, second], &[(90, form)])
}

/// One change: a bit, a byte, a stretch that is lost or doubled, the end.
fn mutate(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let at = rng.random_range(0..bytes.len().max(1)).min(bytes.len().saturating_sub(1));
    let end = (at + rng.random_range(1..40)).min(bytes.len());
    match rng.random_range(0..6) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let stretch = bytes[at..end].to_vec();
            bytes.splice(at..at, stretch);
        }
        3 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = b"0 9-<>[]()/R"[end % 12]),
        _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (end % 8)),
    }
}

#[test]
fn broken_files_give_an_answer_or_an_error() {
    let original = seed_file();
    let sound = parse_pdf(&original, &PdfOptions::default()).expect("a sound file");
    assert!(!texts(&sound).is_empty());
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut n_read, mut n_broken) = (0, 0);
    for _ in 0..3_000 {
        let mut bytes = original.clone();
        for _ in 0..rng.random_range(1..6) {
            mutate(&mut bytes, &mut rng);
        }
        match parse_pdf(&bytes, &PdfOptions { keep_headers: rng.random(), context: 5 }) {
            Ok(document) => {
                n_read += 1;
                for paragraph in &document.paragraphs {
                    assert!(!paragraph.text.trim().is_empty());
                    for annotation in &paragraph.annotations {
                        let span = annotation.start..annotation.end;
                        assert!(paragraph.text.get(span).is_some());
                    }
                }
            }
            Err(PdfError::Broken) => n_broken += 1,
            Err(_) => (),
        }
    }
    // Most changes leave something to read, and the library below seldom fails.
    assert!(n_read > 1_500, "{n_read} files were read");
    assert!(n_broken < 30, "{n_broken} files broke the library");
}

#[test]
fn noise_gives_an_error() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for n_bytes in 0..300 {
        let mut bytes = vec![0; n_bytes];
        rng.fill_bytes(&mut bytes);
        assert!(parse_pdf(&bytes, &PdfOptions::default()).is_err());
    }
}
