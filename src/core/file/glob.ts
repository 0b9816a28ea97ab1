/**
 * Glob patterns of `findFiles` (definitions §18): `*` and `**` match any run of characters, `/` included, `?` matches
 * one. A pattern that does not begin with `/` has to match the end of a path.
 * Implemented without regular expressions: a run of characters ends as soon as the next part of the pattern fits, so
 * time grows at most with the product of both lengths, for any pattern.
 */

export type GlobTest = (path: string) => boolean;

export function compileGlob(pattern: string): GlobTest {
  const glob = [...(pattern.startsWith('/') ? pattern : `*${pattern}`).replace(/\*+/g, '*')];
  return (path) => matches(glob, [...path]);
}

function matches(glob: readonly string[], text: readonly string[]): boolean {
  let [at, next] = [0, 0];
  // Where to resume after a mismatch: after the last `*` or `**`, which then takes one character more.
  let run: { readonly behind: number; taken: number } | undefined;
  while (at < text.length) {
    const sign = glob[next];
    if (sign === '*') {
      next += 1;
      run = { behind: next, taken: at };
    } else if (sign !== undefined && (sign === '?' || sign === text[at])) {
      at += 1;
      next += 1;
    } else if (run) {
      run.taken += 1;
      at = run.taken;
      next = run.behind;
    } else return false;
  }
  while (glob[next] === '*') next += 1;
  return next === glob.length;
}
