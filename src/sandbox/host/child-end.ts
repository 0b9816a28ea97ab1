/** Determines how a sandbox child ended, from its exit, its last standard error and the fault it was killed for. */
import { constants } from 'node:os';
import { basename } from 'node:path';
import { MEMORY_MARK } from '../protocol.ts';

export type ChildEnd =
  | { readonly kind: 'memory' }
  | { readonly kind: 'crashed'; readonly how: string }
  /** The child could not load a package: every other child would end in the same way. */
  | { readonly kind: 'absent'; readonly what: string };

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  /** True if the child has reported that it is ready: everything was loaded. */
  readonly ready: boolean;
  /** Why the child was killed, or could not be started. */
  readonly fault: string | undefined;
}

/** Messages of the engine, and of an allocator, on running out of memory. */
const OUT_OF_MEMORY =
  /(?:FATAL ERROR|# Fatal).*out of memory|Allocation failed - JavaScript heap|std::bad_alloc|Cannot allocate memory/i;
const MAX_SHOWN_LENGTH = 500;

export function readEnd({ code, signal, stderr, ready, fault }: ChildExit): ChildEnd {
  const what = ready ? undefined : findMissing(stderr);
  if (what !== undefined) return { kind: 'absent', what };
  if (fault === undefined && (stderr.includes(MEMORY_MARK) || OUT_OF_MEMORY.test(stderr)))
    return { kind: 'memory' };
  const lastLine = stderr
    .trim()
    .split('\n')
    .find((line) => /error|denied/i.test(line));
  const parts = [signal ?? showExit(code), fault, lastLine?.slice(0, MAX_SHOWN_LENGTH)];
  return { kind: 'crashed', how: parts.filter(Boolean).join(': ') };
}

/** Error messages of Node, and of the loader of native builds. */
const NO_PACKAGE = /Cannot find (?:package|module) '([^'\n]+)'/;
const NO_BUILD = /No native build was found for (.+)\n\s*loaded from: (.+)/;
const BAD_BUILD = /([^\s'"]+\.node)[\s\S]*ERR_DLOPEN_FAILED/;

function findMissing(stderr: string): string | undefined {
  const [, name] = NO_PACKAGE.exec(stderr) ?? [];
  if (name !== undefined) return `the package "${name}" is not installed`;
  const [, platform = '', folder] = NO_BUILD.exec(stderr) ?? [];
  if (folder !== undefined)
    return `the package "${basename(folder.trim())}" has no native build for this machine (${platform.slice(0, MAX_SHOWN_LENGTH)})`;
  const [, build] = BAD_BUILD.exec(stderr) ?? [];
  return build && `the native build ${build} cannot be loaded on this machine`;
}

/** A wall's program reports by its exit code (128 + number) which signal ended what it ran. */
function showExit(code: number | null): string {
  const number = (code ?? 0) - 128;
  const [signal] = Object.entries(constants.signals).find(([, each]) => each === number) ?? [];
  return signal ?? `exit code ${code}`;
}
