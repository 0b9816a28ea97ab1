/** What code wrote to its console: the newest entries, within bounds; that older ones are gone is said. */
import type { CodeExecutionLog } from '../../core/code-execution.ts';
import { SANDBOX_LIMITS } from '../limits.ts';

export interface LogBook {
  add(entry: CodeExecutionLog, bytes: number): void;
  entries(): readonly CodeExecutionLog[];
}

export function createLogBook(): LogBook {
  let kept: { readonly entry: CodeExecutionLog; readonly bytes: number }[] = [];
  let first = 0;
  let total = 0;
  let dropped = 0;
  const count = () => kept.length - first;
  return {
    add(entry, bytes) {
      kept.push({ entry, bytes });
      total += bytes;
      while (count() > SANDBOX_LIMITS.logEntries || (total > SANDBOX_LIMITS.logBytes && count() > 1)) {
        total -= kept[first]?.bytes ?? 0;
        first += 1;
        dropped += 1;
      }
      // The dropped are cut off now and then, not one by one.
      if (first > SANDBOX_LIMITS.logEntries) {
        kept = kept.slice(first);
        first = 0;
      }
    },
    entries() {
      const entries = kept.slice(first).map(({ entry }) => entry);
      if (dropped === 0) return entries;
      const args = [`${dropped} earlier log entries were dropped.`];
      return [{ level: 'warn', args, timestamp: entries[0]?.timestamp ?? Date.now() }, ...entries];
    },
  };
}
