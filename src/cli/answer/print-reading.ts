/**
 * `threads tail --as`: prints a thread's log as events of another system. Loaded only when used: the readings are
 * large.
 */
import { followRun, followTangle, followTurns } from '../../client/follow-run.ts';
import type { ThreadStore } from '../../store/store.ts';
import { printRunEvents } from '../output/run-text.ts';
import { printTangle } from '../output/tangle-text.ts';
import { printTurns } from '../output/turn-text.ts';

export type Reading = 'run' | 'agenticx' | 'tangle';

interface ReadingOptions {
  readonly as: Reading;
  readonly json?: boolean;
  readonly after?: string;
  readonly follow: boolean;
  readonly run?: string;
}

export async function printReading(
  store: ThreadStore,
  threadId: string,
  options: ReadingOptions,
): Promise<void> {
  const { as, json } = options;
  if (as === 'agenticx') return printTurns(followTurns(store, threadId, options), json);
  if (as === 'tangle') return printTangle(followTangle(store, threadId, options), json);
  return printRunEvents(followRun(store, threadId, options), json);
}
