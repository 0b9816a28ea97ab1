/** `everthread runs …`: find and read executions of all threads. They need the store, and no server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { followForm, requireRun } from '../../client/follow-run.ts';
import type { RunRecord } from '../../client/run-record.ts';
import { readRunReport } from '../../client/run-report.ts';
import { storedRuns } from '../../client/stored-runs.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { shorten } from '../../core/value/shown-text.ts';
import { RedactionPolicy } from '../../projections/run/run-redaction.ts';
import { type DiffLine, diffRuns, RunReplay } from '../../projections/run/run-replay.ts';
import type { RunReport } from '../../projections/run/run-report.ts';
import { RUN_STATES } from '../../store/execution/execution-record.ts';
import {
  argument,
  type CommandDefinition,
  command,
  idOption,
  negated,
  option,
  parseCount,
} from '../command.ts';
import { showPath, storeCommand } from '../connection/find-store.ts';
import { EXIT } from '../exit.ts';
import { type Cells, fieldLines, listing } from '../output/listing.ts';
import { printDataLine, printLine, tone, write } from '../output/output.ts';
import { printProjected, runEventText } from '../output/run-text.ts';

/** How an execution is named. */
const RUN = {
  arguments: { id: argument('id of the execution', 'execution') },
  options: { thread: idOption('thread', 'its thread, if other threads have an execution with this id') },
};

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

/** `everthread runs report`, `replay` and `diff`: read what is stored of a run. None of them runs anything. */

const report = storeCommand({
  summary: 'write what happened in an execution as JSON',
  description:
    'Writes the report of an execution: its events, and the actions, approvals, artifacts, metrics and task derived from them. ' +
    'Fields that are named like secrets are masked.',
  arguments: RUN.arguments,
  options: {
    ...RUN.options,
    redact: negated('mask nothing'),
    out: option('<file>', 'write to this file (default: standard output)'),
  },
  async read(store, { id, thread: threadId, out, redact }) {
    const redaction = redact ? new RedactionPolicy() : undefined;
    const text = `${JSON.stringify(await readRunReport(store, id, { threadId, redaction }), null, 2)}\n`;
    if (out === undefined) {
      write(text);
      return undefined;
    }
    writeFileSync(out, text);
    return {
      json: { run: id, file: out, bytes: Buffer.byteLength(text) },
      note: `Wrote the report of run ${id} to ${showPath(out)}.`,
    };
  },
});

const replay = command({
  summary: 'show the events of a recorded report',
  description:
    'Shows the events of a report, as `runs report` has written it. With --json one event per line. Runs nothing.',
  arguments: { file: argument('the report') },
  options: { type: option('<type>', 'only events of this type') },
  async run({ file, json, type }) {
    for (const event of new RunReplay(readReport(file)).iterEvents(type)) {
      if (json) printDataLine(event);
      else printLine(runEventText(event));
    }
    return undefined;
  },
});

const diff = command({
  summary: 'compare two recorded reports',
  description:
    'Compares the events of two reports by what is stable between runs: types, severities, summaries. ' +
    'Exit code 0 if they are the same, else 1. With --json: { same, lines }.',
  arguments: { first: argument('a report'), second: argument('another one') },
  async run({ first, second }) {
    const lines = diffRuns(readReport(first), readReport(second));
    const same = lines.every((line) => line.in === 'both');
    const shown = same
      ? { note: 'Both runs have the same events.' }
      : { text: lines.map(diffText).join('\n') };
    return { json: { same, lines }, ...shown, exit: same ? EXIT.done : EXIT.failed };
  },
});

function diffText({ in: where, line }: DiffLine): string {
  const text = shorten(line, 200);
  if (where === 'both') return tone('dim', `  ${text}`);
  return where === 'first' ? tone('red', `- ${text}`) : tone('green', `+ ${text}`);
}

function readReport(file: string): RunReport {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RunReport;
  } catch (error) {
    throw new RuntimeError('InvalidValue', `No report can be read from ${file}: ${errorMessage(error)}.`);
  }
}

export const runCommands: CommandDefinition = {
  description: 'A run is an execution of a thread, from the input that begins it to its end.',
  commands: { list, show, report, replay, diff },
};
