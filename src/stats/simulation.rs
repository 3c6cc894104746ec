//! What intervals and tests of ratios promise, held against corpora of known truth.
//!
//! Students differ, and all paragraphs of a student with them; the expected ratio is known.
//! Sizes and seed are fixed, so that the shares found are the same on every run; bounds
//! leave more than three standard errors of a share of 1,500 corpora.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::*;

/// The chance of a match of the average student.
const TRUTH: f64 = 0.5;

/// What a system does on a corpus.
struct Simulated {
    paragraphs: Vec<ClusterSums>,
    students: Vec<ClusterSums>,
}

/// How students and systems vary.
#[derive(Clone, Copy)]
struct Corpus {
    n_students: usize,
    /// At most this many paragraphs of a student, at least one.
    n_paragraphs: usize,
    /// How far the chance of a match of a student lies from the average at most.
    student: f64,
    /// How far either system lies from that of the student at most, on all of his paragraphs.
    system: f64,
}

impl Corpus {
    /// Two systems that are alike on average, on the same paragraphs.
    fn draw(self, stream: usize) -> [Simulated; 2] {
        let mut rng = Draws { seed: 7, ..Draws::default() }.stream(stream);
        let mut systems =
            [(); 2].map(|()| Simulated { paragraphs: Vec::new(), students: Vec::new() });
        for _ in 0..self.n_students {
            let student = spread(&mut rng, self.student);
            let chances = [(); 2].map(|()| TRUTH + student + spread(&mut rng, self.system));
            let n_paragraphs = rng.random_range(1..=self.n_paragraphs);
            let n_items: Vec<u8> = (0..n_paragraphs).map(|_| rng.random_range(1..=6)).collect();
            for (system, chance) in systems.iter_mut().zip(chances) {
                let start = system.paragraphs.len();
                system.paragraphs.extend(n_items.iter().map(|&n| matches(&mut rng, n, chance)));
                system.students.push(system.paragraphs[start..].iter().copied().sum());
            }
        }
        systems
    }
}

/// Evenly between `-most` and `most`.
fn spread(rng: &mut ChaCha8Rng, most: f64) -> f64 {
    most * (2.0 * rng.random::<f64>() - 1.0)
}

fn matches(rng: &mut ChaCha8Rng, n_items: u8, chance: f64) -> ClusterSums {
    let n_matches = (0..n_items).filter(|_| rng.random_bool(chance)).count();
    ClusterSums { above: n_matches as f64, below: f64::from(n_items) }
}

/// The share of `n` corpora, given by their stream, of which something holds.
fn share(n: usize, holds: impl Fn(usize) -> bool + Sync) -> f64 {
    (0..n).into_par_iter().filter(|&stream| holds(stream)).count() as f64 / n as f64
}

fn draws(n: usize) -> Draws {
    Draws { n, ..Draws::default() }
}

fn holds(interval: Interval, truth: f64) -> bool {
    interval.low <= truth && truth <= interval.high
}

#[test]
#[expect(clippy::print_stderr, reason = "figures to be read with --nocapture")]
fn intervals_over_students_hold_the_truth_as_often_as_they_say() {
    let corpus = Corpus { n_students: 120, n_paragraphs: 4, student: 0.35, system: 0.1 };
    let of_ratio = |interval: &(dyn Fn(&Simulated) -> Interval + Sync)| {
        share(1500, |stream| holds(interval(&corpus.draw(stream)[0]), TRUTH))
    };
    let of_difference = |interval: &(dyn Fn(&[Simulated; 2]) -> Interval + Sync)| {
        share(1500, |stream| holds(interval(&corpus.draw(stream)), 0.0))
    };
    let linearised = of_ratio(&|system| ratio_linearised(&system.students, 0.95).unwrap().interval);
    let percentile =
        of_ratio(&|system| ratio_bootstrap(&system.students, draws(400)).unwrap().percentile);
    let accelerated =
        of_ratio(&|system| ratio_bootstrap(&system.students, draws(400)).unwrap().bca.unwrap());
    let difference = of_difference(&|[first, second]| {
        difference_linearised(&first.students, &second.students, 0.95).unwrap().interval
    });
    let naive = of_ratio(&|system| ratio_linearised(&system.paragraphs, 0.95).unwrap().interval);
    eprintln!(
        "coverage at 95 %: linearised {linearised:.4}, percentile {percentile:.4}, BCa \
         {accelerated:.4}, difference linearised {difference:.4}, naive by paragraph {naive:.4}"
    );
    for found in [linearised, percentile, accelerated, difference] {
        assert!((0.93..=0.97).contains(&found), "{found}");
    }
    assert!(naive < 0.9, "{naive}");
}

#[test]
#[expect(clippy::print_stderr, reason = "figures to be read with --nocapture")]
fn tests_of_systems_that_are_alike_reject_as_seldom_as_they_say() {
    let corpus = Corpus { n_students: 30, n_paragraphs: 8, student: 0.15, system: 0.3 };
    let few = Corpus { n_students: 11, ..corpus };
    let rejected = |[first, second]: [&[ClusterSums]; 2]| {
        randomisation_test(first, second, draws(199)).unwrap().p_value <= 0.05
    };
    let by_student = share(6000, |stream| {
        let [first, second] = corpus.draw(stream);
        rejected([&first.students, &second.students])
    });
    let by_paragraph = share(1500, |stream| {
        let [first, second] = corpus.draw(stream);
        rejected([&first.paragraphs, &second.paragraphs])
    });
    let exact = share(1500, |stream| {
        let [first, second] = few.draw(stream);
        rejected([&first.students, &second.students])
    });
    let wild = share(1500, |stream| {
        let [first, second] = few.draw(stream);
        let found = wild_cluster_bootstrap(&first.students, &second.students, draws(0)).unwrap();
        found.p_value <= 0.05
    });
    eprintln!(
        "rejected at 5 % under no difference: randomisation by student {by_student:.4}, naive by \
         paragraph {by_paragraph:.4}; eleven students: exact {exact:.4}, wild {wild:.4}"
    );
    assert!((0.035..=0.055).contains(&by_student), "{by_student}");
    assert!(exact <= 0.0725, "{exact}");
    assert!((0.03..=0.0725).contains(&wild), "{wild}");
    assert!(0.1 < by_paragraph, "{by_paragraph}");
}

#[test]
fn a_difference_that_should_be_detectable_is_found_as_often_as_asked() {
    // A difference of a share of the items, added to what the second system does.
    let corpus = Corpus { n_students: 40, n_paragraphs: 4, student: 0.2, system: 0.15 };
    let error = |stream| {
        let [first, second] = corpus.draw(stream);
        let found = difference_linearised(&first.students, &second.students, 0.95).unwrap();
        found.standard_error.powi(2)
    };
    let mean_square = (0..1500).into_par_iter().map(error).sum::<f64>() / 1500.0;
    let added = minimum_detectable_difference(mean_square.sqrt(), 39.0, 0.05, 0.8).unwrap();
    let power = share(1500, |stream| {
        let [first, second] = corpus.draw(stream);
        let with = |sums: &ClusterSums| ClusterSums {
            above: sums.above + added * sums.below,
            below: sums.below,
        };
        let second: Vec<ClusterSums> = second.students.iter().map(with).collect();
        let found = difference_linearised(&first.students, &second, 0.95).unwrap();
        0.0 < found.interval.low
    });
    assert!((0.76..=0.84).contains(&power), "{power}");
}
