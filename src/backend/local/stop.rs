//! Texts that end a reply.

/// Where the first of the stop texts begins in a reply, in bytes; of several the
/// one that begins first.
pub(super) fn first_stop(reply: &str, stops: &[String]) -> Option<usize> {
    stops.iter().filter_map(|stop| reply.find(stop.as_str())).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stop_in_the_text_counts_not_the_first_in_the_list() {
        let stops = ["###".to_owned(), "\n\n".to_owned()];
        assert_eq!(first_stop("good\n\nbad ###", &stops), Some(4));
        assert_eq!(first_stop("good ##", &stops), None);
        assert_eq!(first_stop("anything", &[]), None);
    }
}
