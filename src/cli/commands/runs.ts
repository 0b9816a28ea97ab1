/** `everthread runs …`: find and read executions of all threads. They need the store, and no server. */
import { followForm, requireRun } from '../../client/follow-run.ts';
import type { RunRecord } from '../../client/run-record.ts';
import { storedRuns } from '../../client/stored-runs.ts';
import { RUN_STATES } from '../../store/execution/execution-record.ts';
import { type CommandDefinition, idOption, option, parseCount } from '../command.ts';
import { storeCommand } from '../connection/find-store.ts';
import { type Cells, fieldLines, listing } from '../output/listing.ts';
import { printLine } from '../output/output.ts';
import { printProjected, runEventText } from '../output/run-text.ts';
import { RUN, runDiff, runReplay, runReport } from './run-report.ts';

const COLUMNS: Cells<RunRecord> = {
  RUN: ['id', 64],
  THREAD: 'threadId',
  AGENT: ['agent', 30],
  STATE: 'state',
  STARTED: 'startedAt',
  TOOK: ({ startedAt, endedAt }) =>
    endedAt === null ? null : `${((endedAt - startedAt) / 1_000_000).toFixed(1)} s`,
  REASON: ['reason', 40],
};

const list = storeCommand({
  summary: 'list executions, the latest first',
  description: 'Lists executions of all threads, the latest first. With --json: { runs }.',
  options: {
    thread: idOption('thread', 'only those of this thread'),
    run: option('<id>', 'only those with this run id in their context'),
    session: option('<id>', 'only those of this session'),
    trace: option('<id>', 'only those of this trace'),
    agent: option('<name>', 'only those that began with this agent'),
    state: option('<state>', 'only those in this state', RUN_STATES),
    before: idOption('execution', 'only those after this run: pass the last one shown for the next page'),
    limit: option('<n>', 'at most n', parseCount, 50),
  },
  async read(store, { thread, run, session, trace, agent, state, before, limit }) {
    const labels = { threadId: thread, runId: run, sessionId: session, traceId: trace };
    const last = before === undefined ? undefined : await requireRun(store, before, thread);
    const found = await storedRuns(store).list({
      ...labels,
      agent,
      state,
      limit,
      ...(last && { before: last }),
    });
    return listing('runs', found, {
      columns: COLUMNS,
      none: 'No matching runs.',
      limit,
      more: (shown) => `--before ${shown?.id} shows those after them.`,
    });
  },
});

const show = storeCommand({
  summary: 'show what happened in an execution',
  description: 'Shows the events of an execution (docs/runs.md). With --json lines of { cursor, event }.',
  ...RUN,
  async read(store, { id, thread, json }) {
    const run = await requireRun(store, id, thread);
    if (!json) {
      const texts = fieldLines(run, COLUMNS).map(([, text]) => text);
      printLine(`${texts.filter(Boolean).join('  ')}\n`);
    }
    await printProjected(
      followForm(store, run.threadId, { as: 'run', run: run.id, follow: false }),
      json,
      runEventText,
    );
    return undefined;
  },
});

export const runCommands: CommandDefinition = {
  description: 'A run is an execution of a thread, from the input that begins it to its end.',
  commands: { list, show, report: runReport, replay: runReplay, diff: runDiff },
};
