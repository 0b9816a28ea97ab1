/** What all ThreadStates of one piece of work share: its variables and its sandbox scope. */
import type { RunCode } from '../../core/author/code-execution.ts';
import type { ThreadEnv } from './thread-env.ts';

export interface StateParts {
  readonly env: ThreadEnv;
  readonly runCode: RunCode;
}
