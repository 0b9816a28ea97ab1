/** `everthread tasks show`: a task with its steps, read from the store. */
import type { Command } from 'commander';
import { readTask } from '../../client/lost-task.ts';
import { taskNotFound } from '../../client/tasks.ts';
import type { TaskVerdict } from '../../core/task/control.ts';
import { tagOfTask } from '../../core/thread/task-start.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { TaskRecord, TaskStepRecord } from '../../store/task/task-record.ts';
import { addCommon, type Cli, type CommonOptions, parseWhole, withExitCode } from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { dateAndTime, printJson, printLine, tone, toTable } from '../output/output.ts';
import { escapeControls, shorten } from '../output/terminal-text.ts';

interface ShowOptions extends CommonOptions {
  readonly steps: number;
}

export function addTaskShow(tasks: Command, cli: Cli): void {
  const command = tasks
    .command('show')
    .summary('show a task with its steps')
    .description(
      'Shows a task: its input, how it ended, and its steps. With --json: { task, steps, waits, threads }; threads are the latest 20 that it has started.',
    )
    .argument('<id>', 'id of the task')
    .option('--steps <n>', 'at most n steps, the newest ones', parseWhole, 20);
  addCommon(command).action(withExitCode(cli, showTask));
}

async function showTask(id: string, { project, json, steps: most }: ShowOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    const task = await readTask(store, id);
    if (!task) throw taskNotFound(id);
    const steps = await store.tasks.listSteps(id, Math.max(0, task.steps - most), most + 1);
    const waits = await openWaits(store, task);
    const threads = await store.threads.list({ tag: tagOfTask(task.threadId), limit: MAX_THREADS });
    if (json) return printJson({ task, steps, waits, threads });
    const beside = [
      ...waits.map((wait) => ['waits', `${wait.id} ${wait.summary}`]),
      ...threads.map(({ id: each, agent, status }) => ['thread', `${each} (${agent}, ${status})`]),
    ];
    printLine(escapeControls(toTable([...describeTask(task), ...beside])));
    if (steps.length === 0) return;
    printLine('');
    const [heading = '', ...lines] = toTable([
      ['STEP', 'SCORE', 'DID', 'OUTCOME'],
      ...steps.map(toStepRow),
    ]).split('\n');
    printLine(tone('dim', heading));
    for (const line of lines) printLine(escapeControls(line));
  });
  return undefined;
}

/** Number of threads shown: the latest that the task has started. */
const MAX_THREADS = 20;

function openWaits({ waits }: ThreadStore, { threadId, endedAt }: TaskRecord) {
  return endedAt === null ? waits.list({ threadId }) : Promise.resolve([]);
}

export function describeTask(task: TaskRecord): string[][] {
  const { verdict, spec, endedAt, records } = task;
  return [
    ['task', task.id],
    ['name', task.name],
    ...(spec.intent === task.name ? [] : [['intent', spec.intent]]),
    ...(spec.inputs === undefined ? [] : [['inputs', shorten(JSON.stringify(spec.inputs), 400)]]),
    ...(task.parentId === null ? [] : [['parent', task.parentId]]),
    ['status', task.status],
    ...(verdict
      ? [
          ['stopped by', describeStop(verdict)],
          ['reason', shorten(verdict.reason, 400)],
          ...(verdict.score === undefined ? [] : [['score', String(verdict.score)]]),
          ...(verdict.outcome === undefined
            ? []
            : [['outcome', shorten(JSON.stringify(verdict.outcome), 400)]]),
        ]
      : []),
    ['steps', String(task.steps)],
    ['at work', `${(task.wallMs / 1000).toFixed(1)} s`],
    ...(task.spentCostUsd > 0 ? [['spent', `${task.spentCostUsd} USD`]] : []),
    ['started', dateAndTime(task.createdAt)],
    ...(endedAt === null ? [] : [['ended', dateAndTime(endedAt)]]),
    ...task.errors.map(({ phase, stepIndex, message }) => [
      'error',
      shorten(`${phase}, step ${stepIndex}: ${message}`, 300),
    ]),
    ...(records ? [['records', String(records.length)]] : []),
  ];
}

function describeStop({ stoppedBy, limit, code = limit }: TaskVerdict): string {
  return code ? `${stoppedBy} (${code})` : stoppedBy;
}

function toStepRow({ step, score, decision, outcome, act: state }: TaskStepRecord): string[] {
  const did =
    decision === null
      ? ''
      : decision.kind === 'act'
        ? `act ${JSON.stringify(decision.action)}`
        : decision.kind === 'ask'
          ? `ask ${decision.question}`
          : decision.kind === 'await'
            ? `await ${decision.threadId}`
            : `stop ${decision.pass ? 'passed' : 'failed'}`;
  const cameTo = outcome
    ? outcome.ok
      ? (JSON.stringify(outcome.result ?? null) ?? '')
      : `failed: ${outcome.error}`
    : (state ?? '');
  return [String(step), score === null ? '-' : String(score), shorten(did, 60), shorten(cameTo, 60)];
}
