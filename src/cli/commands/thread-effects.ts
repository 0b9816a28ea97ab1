/** `everthread threads effects`: the pending effects of a thread, and cancelling them. Needs the store, and no server. */
import { RuntimeError } from '../../core/value/error.ts';
import { argument, THREAD } from '../command.ts';
import { readThread, storeCommand } from '../connection/find-store.ts';
import { listing } from '../output/listing.ts';

const cancel = storeCommand({
  summary: 'cancel a pending effect',
  description: 'Cancels a pending effect; it never fires.',
  arguments: { thread: THREAD, effect: argument('id of the effect', 'effect') },
  async read(store, { thread: threadId, effect: effectId }) {
    await readThread(store, threadId);
    if (!(await store.effects.remove(threadId, effectId))) {
      throw new RuntimeError(
        'EffectNotFound',
        `Thread "${threadId}" has no pending effect ${JSON.stringify(effectId)}: it has fired, was cancelled, or never existed.`,
      );
    }
    return {
      json: { threadId, effectId, cancelled: true },
      note: `Cancelled effect ${effectId} of thread ${threadId}.`,
    };
  },
});

export const threadEffects = storeCommand({
  description:
    'Lists pending effects (state.scheduleEffect), the next due first. With --json: { effects }, times in ' +
    'microseconds since 1970.',
  arguments: { thread: THREAD },
  commands: { cancel },
  async read(store, { thread }) {
    await readThread(store, thread);
    const now = Date.now();
    return listing('effects', await store.effects.list(thread), {
      columns: {
        ID: ['id', 64],
        NAME: ['name', 64],
        DUE: ({ scheduledAt }) => dueText(scheduledAt / 1000 - now),
        AT: ({ scheduledAt }) => new Date(scheduledAt / 1000).toISOString(),
        ARGUMENTS: ['args', 120],
      },
      none: 'No pending effects.',
    });
  },
});

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** Formats milliseconds in their two largest units: `in 2 h 5 min`, `now`, `3 min late`. */
export function dueText(milliseconds: number): string {
  let seconds = Math.floor(Math.abs(milliseconds) / 1000);
  if (seconds === 0) return 'now';
  const largest = UNITS.findIndex(([, size]) => seconds >= size);
  const words: string[] = [];
  for (const [unit, size] of UNITS.slice(largest, largest + 2)) {
    const count = Math.floor(seconds / size);
    if (count > 0) words.push(`${count} ${unit}`);
    seconds -= count * size;
  }
  return milliseconds > 0 ? `in ${words.join(' ')}` : `${words.join(' ')} late`;
}
