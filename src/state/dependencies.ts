/** What a ThreadState is made from: ports, never globals. */
import type { Registry } from '../core/author/definition.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import type { AuthorFault } from './author-fault.ts';

export interface StateDependencies {
  readonly store: ThreadStore;
  /** The project as it is now: `everthread dev` replaces it when a file changes. */
  readonly registry: () => Registry;
  /** Runs the code of tools, and of models. */
  readonly sandbox: Sandbox;
  /** Milliseconds that one hook may take; LIMITS.hookMs where absent. */
  readonly hookMs?: number;
  /** For the log: what an author's code has thrown. Must not throw. */
  readonly report?: (fault: AuthorFault) => void;
}
