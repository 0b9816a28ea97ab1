/** How a sandbox child ended, read from what is left of it: its exit, its last words, what it was caught at. */
import { constants } from 'node:os';
import { MEMORY_MARK } from '../protocol.ts';

export type ChildEnd = { readonly kind: 'memory' } | { readonly kind: 'crashed'; readonly how: string };

export interface Remains {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  /** Why it was killed, or could not be started. */
  readonly fault: string | undefined;
}

/** The engine's own last words, and those of an allocator that was refused. */
const OUT_OF_MEMORY =
  /(?:FATAL ERROR|# Fatal).*out of memory|Allocation failed - JavaScript heap|std::bad_alloc|Cannot allocate memory/i;
const SAID_LENGTH = 500;

export function readEnd({ code, signal, stderr, fault }: Remains): ChildEnd {
  if (fault === undefined && (stderr.includes(MEMORY_MARK) || OUT_OF_MEMORY.test(stderr)))
    return { kind: 'memory' };
  const said = stderr
    .trim()
    .split('\n')
    .find((line) => /error|denied/i.test(line));
  const parts = [signal ?? showExit(code), fault, said?.slice(0, SAID_LENGTH)];
  return { kind: 'crashed', how: parts.filter(Boolean).join(': ') };
}

/** A wall's program tells in its own code which signal ended what it ran. */
function showExit(code: number | null): string {
  const number = (code ?? 0) - 128;
  const [signal] = Object.entries(constants.signals).find(([, each]) => each === number) ?? [];
  return signal ?? `exit code ${code}`;
}
