"""What `--help` tells beside the options."""

TOP = "Exact hybrid retrieval over text files: BM25, exact cosine, reciprocal rank fusion."

SUMMARIES = {
    "search": "find the passages in files that answer a query",
    "explain": "search, and show the arithmetic behind each result",
    "tokenize": "show the terms of a text",
    "version": "show the version",
}

_WORDS = """\
Options may stand before, between and after the words. Put -- before words that
begin with -: what follows it is never an option.
"""

_FILES = """\
what is read:
  Files are read as UTF-8, whatever their extension. Those that are binary, not
  UTF-8, unreadable or no regular files are skipped and reported. Below a
  folder, hidden names, __pycache__ and node_modules are passed over, and links
  to folders are not followed.
"""

_RESULTS = """\
output:
  rank      1 is the best
  fused     1/(60 + rank), added up over both channels; - in the other modes
  semantic  (1 + cosine) / 2 of the embeddings, from 0 to 1
  lexical   BM25, comparable within one search only
  source    the file, and the lines of the passage
  A - stands where a channel did not rank the passage. Words of the query are
  bold on a terminal; they stand between ** elsewhere, where NO_COLOR is not
  empty, and where TERM is dumb. What was read and skipped is told on stderr.
"""

_WORKING = """\
output, for each result and for the first that missed the cut:
  lexical   the rank, and what each term of the query adds to the BM25 score,
            with their total: tf, its occurrences in the passage; df, the
            passages that hold it; idf, the weight of its rarity
  semantic  the rank, and the cosine of the embeddings from its three sums
  fused     1/(60 + rank), added up over both channels
"""

_EXIT_CODES = """\
exit codes:
  0    done, even if nothing was found
  1    failed: a path that does not exist, nothing that could be read, an error
       of the server, an output that cannot be written
  2    a wrong usage
  130  interrupted
"""

_TOP_EXAMPLES = """\
examples:
  redstring-ref search "equal scores" README.md spec/
  redstring-ref explain -k 1 "equal scores" README.md spec/
  redstring-ref search --help
"""

_SEARCH_EXAMPLES = """\
examples:
  redstring-ref search "equal scores" README.md spec/
  redstring-ref search --mode lexical -k 3 -- -Wall Makefile
  redstring-ref search "equal scores" docs/ --embeddings openai \\
      --base-url http://localhost:11434/v1 --model nomic-embed-text \\
      --dimension 768
"""

_EXPLAIN_EXAMPLE = """\
example:
  redstring-ref explain -k 1 "equal scores" README.md spec/
"""

_TOKENIZE_EXAMPLE = """\
example:
  redstring-ref tokenize "The first of snake_case, C++"
"""

TOP_EPILOG = "\n".join([_TOP_EXAMPLES, _EXIT_CODES])
EPILOGS = {
    "search": "\n".join([_WORDS, _FILES, _RESULTS, _EXIT_CODES, _SEARCH_EXAMPLES]),
    "explain": "\n".join([_WORDS, _FILES, _WORKING, _EXIT_CODES, _EXPLAIN_EXAMPLE]),
    "tokenize": "\n".join([_WORDS, _TOKENIZE_EXAMPLE]),
    "version": None,
}
