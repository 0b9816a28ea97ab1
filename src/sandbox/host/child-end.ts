/** How a sandbox child ended, read from what is left of it: its exit, its last words, what it was caught at. */
import { constants } from 'node:os';
import { basename } from 'node:path';
import { MEMORY_MARK } from '../protocol.ts';

export type ChildEnd =
  | { readonly kind: 'memory' }
  | { readonly kind: 'crashed'; readonly how: string }
  /** It could not load a package: every other child would end like that. */
  | { readonly kind: 'absent'; readonly what: string };

export interface Remains {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  /** It has said that it is ready: everything was loaded. */
  readonly ready: boolean;
  /** Why it was killed, or could not be started. */
  readonly fault: string | undefined;
}

/** The engine's own last words, and those of an allocator that was refused. */
const OUT_OF_MEMORY =
  /(?:FATAL ERROR|# Fatal).*out of memory|Allocation failed - JavaScript heap|std::bad_alloc|Cannot allocate memory/i;
const SAID_LENGTH = 500;

export function readEnd({ code, signal, stderr, ready, fault }: Remains): ChildEnd {
  const what = ready ? undefined : findAbsent(stderr);
  if (what !== undefined) return { kind: 'absent', what };
  if (fault === undefined && (stderr.includes(MEMORY_MARK) || OUT_OF_MEMORY.test(stderr)))
    return { kind: 'memory' };
  const said = stderr
    .trim()
    .split('\n')
    .find((line) => /error|denied/i.test(line));
  const parts = [signal ?? showExit(code), fault, said?.slice(0, SAID_LENGTH)];
  return { kind: 'crashed', how: parts.filter(Boolean).join(': ') };
}

/** As Node says it, and the loader of native builds. */
const NO_PACKAGE = /Cannot find (?:package|module) '([^'\n]+)'/;
const NO_BUILD = /No native build was found for (.+)\n\s*loaded from: (.+)/;
const BAD_BUILD = /([^\s'"]+\.node)[\s\S]*ERR_DLOPEN_FAILED/;
/(\S+\.node)\S* (?:was compiled against a different|cannot open|invalid)|Error: (\S+\.node): /;

function findAbsent(stderr: string): string | undefined {
  const [, name] = NO_PACKAGE.exec(stderr) ?? [];
  if (name !== undefined) return `the package "${name}" is not installed`;
  const [, platform = '', folder] = NO_BUILD.exec(stderr) ?? [];
  if (folder !== undefined)
    return `the package "${basename(folder.trim())}" has no native build for this machine (${platform.slice(0, SAID_LENGTH)})`;
  const [, build] = BAD_BUILD.exec(stderr) ?? [];
  return build && `the native build ${build} cannot be loaded on this machine`;
}

/** A wall's program tells in its own code which signal ended what it ran. */
function showExit(code: number | null): string {
  const number = (code ?? 0) - 128;
  const [signal] = Object.entries(constants.signals).find(([, each]) => each === number) ?? [];
  return signal ?? `exit code ${code}`;
}
