/** `everthread threads tail`: reads the store, and needs no server. */
import { followEvents } from '../../client/follow-events.ts';
import { LOG_FORMS, type LogForm } from '../../projections/log-form.ts';
import { afterRow } from '../../projections/projection.ts';
import { idOption, negated, option, parseWhole, THREAD } from '../command.ts';
import { readThread, storeCommand } from '../connection/find-store.ts';
import { printJsonLine } from '../output/output.ts';

export const threadTail = storeCommand({
  description:
    'Tells what happens in a thread and why, and follows it: messages, answers token by token, calls, and what was ' +
    'retried, lost, left out or waited for (docs/debugging.md). Ends when the thread is terminated, or with Ctrl-C. ' +
    'With --json each event is one line {seq, at, type, …}; the last seq is the cursor to continue from.',
  arguments: { thread: THREAD },
  options: {
    after: option('<seq>', 'only events after this one: its seq, or with --as its cursor'),
    as: option<LogForm>(
      '<reading>',
      'run: as RunEvents; agenticx: as its RuntimeEvents; tangle: as events of its boxes; story: what is shown without --as; one line each (docs/runs.md, docs/tangle.md)',
      LOG_FORMS,
    ),
    run: idOption('execution', 'with --as: only the events of this execution'),
    follow: negated('exit at the current end of the log'),
  },
  async read(store, { thread: threadId, ...options }) {
    const { json, follow, as } = options;
    // Refused before anything is read.
    const after = as || options.after === undefined ? 0 : parseWhole(options.after);
    await readThread(store, threadId);
    if (json && !as) {
      for await (const event of followEvents(store, threadId, { after, follow })) printJsonLine(event);
      return undefined;
    }
    const { printReading } = await import('../answer/print-reading.ts');
    const reading = as ? { ...options, as } : { as: 'story' as const, follow, after: afterRow(after) };
    await printReading(store, threadId, reading);
    return undefined;
  },
});
