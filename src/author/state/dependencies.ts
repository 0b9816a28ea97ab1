/** What a ThreadState is made from: ports, never globals. */
import type { Registry } from '../../core/author/registry.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { AuthorFault } from '../guard/author-fault.ts';

export interface StateDependencies {
  readonly store: ThreadStore;
  /** The project as it is now: `everthread dev` replaces it when a file changes. */
  readonly registry: () => Registry;
  /** Runs code that tools pass to it, and code that models write. */
  readonly sandbox: Sandbox;
  /** Milliseconds that one hook may take; default LIMITS.hookMs. */
  readonly hookMs?: number;
  /** Logs a fault of author code. Must not throw. */
  readonly report?: (fault: AuthorFault) => void;
}
