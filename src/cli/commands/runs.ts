/** `everthread runs …`: find and read executions of all threads. They need the store, and no server. */
import { type Command, Option } from 'commander';
import { followRun, requireRun } from '../../client/follow-run.ts';
import type { RunRecord } from '../../client/run-record.ts';
import { storedRuns } from '../../client/stored-runs.ts';
import { RUN_STATES, type RunRecordState } from '../../store/execution/execution-record.ts';
import { addCommon, type Cli, type CommonOptions, GROUPS, parseCount, withExitCode } from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { dateAndTime, dimNote, note, printJson, printLine, tone, toTable } from '../output/output.ts';
import { printRunEvents } from '../output/run-text.ts';
import { shorten } from '../output/terminal-text.ts';
import { addRunDiff, addRunReplay, addRunReport } from './run-report.ts';

export function addRuns(program: Command, cli: Cli): void {
  const runs = program
    .command('runs')
    .alias('run')
    .helpGroup(GROUPS.talk)
    .summary('executions of all threads: see "everthread runs --help"')
    .description('A run is an execution of a thread, from the input that begins it to its end.');
  addRunList(runs, cli);
  addRunShow(runs, cli);
  addRunReport(runs, cli);
  addRunReplay(runs, cli);
  addRunDiff(runs, cli);
}

interface ListOptions extends CommonOptions {
  readonly thread?: string;
  readonly run?: string;
  readonly session?: string;
  readonly trace?: string;
  readonly agent?: string;
  readonly state?: RunRecordState;
  readonly before?: string;
  readonly limit: number;
}

function addRunList(runs: Command, cli: Cli): void {
  const command = runs
    .command('list')
    .summary('list executions, the latest first')
    .description('Lists executions of all threads, the latest first. With --json: { runs }.')
    .option('--thread <id>', 'only those of this thread')
    .option('--run <id>', 'only those with this run id in their context')
    .option('--session <id>', 'only those of this session')
    .option('--trace <id>', 'only those of this trace')
    .option('--agent <name>', 'only those that began with this agent')
    .addOption(new Option('--state <state>', 'only those in this state').choices(RUN_STATES))
    .option('--before <id>', 'only those after this run: pass the last one shown for the next page')
    .option('--limit <n>', 'at most n', parseCount, 50);
  addCommon(command).action(withExitCode(cli, listRuns));
}

async function listRuns(options: ListOptions): Promise<undefined> {
  const { project, json, thread, run, session, trace, agent, state, before, limit } = options;
  const labels = { threadId: thread, runId: run, sessionId: session, traceId: trace };
  await withStore(project, async (store) => {
    const last = before === undefined ? undefined : await requireRun(store, before, thread);
    const runs = await storedRuns(store).list({
      ...labels,
      agent,
      state,
      limit,
      ...(last && { before: last }),
    });
    if (json) return printJson({ runs });
    if (runs.length === 0) return note('No matching runs.');
    const [heading = '', ...lines] = toTable([
      ['RUN', 'THREAD', 'AGENT', 'STATE', 'STARTED', 'TOOK', 'REASON'],
      ...runs.map(toRow),
    ]).split('\n');
    printLine(tone('dim', heading));
    for (const line of lines) printLine(line);
    if (runs.length === limit)
      dimNote(`At most ${limit} are shown: --before ${runs.at(-1)?.id} shows those after them.`);
  });
  return undefined;
}

function toRow({ id, threadId, agent, state, startedAt, endedAt, reason }: RunRecord): string[] {
  return [
    shorten(id, 64),
    threadId,
    shorten(agent, 30),
    state,
    dateAndTime(startedAt),
    endedAt === null ? '' : `${((endedAt - startedAt) / 1_000_000).toFixed(1)} s`,
    shorten(reason ?? '', 40),
  ];
}

function addRunShow(runs: Command, cli: Cli): void {
  const command = runs
    .command('show')
    .summary('show what happened in an execution')
    .description('Shows the events of an execution (docs/runs.md). With --json lines of { cursor, event }.')
    .argument('<id>', 'id of the execution')
    .option('--thread <id>', 'its thread, if other threads have an execution with this id');
  addCommon(command).action(withExitCode(cli, showRun));
}

async function showRun(
  id: string,
  { project, json, thread }: CommonOptions & { readonly thread?: string },
): Promise<undefined> {
  await withStore(project, async (store) => {
    const run = await requireRun(store, id, thread);
    if (!json) printLine(`${toRow(run).filter(Boolean).join('  ')}\n`);
    await printRunEvents(followRun(store, run.threadId, { run: run.id, follow: false }), json);
  });
  return undefined;
}
