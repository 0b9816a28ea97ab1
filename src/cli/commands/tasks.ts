/** `everthread tasks …`: start, read and abort tasks. Reading needs only the store. */
import { type Command, Option } from 'commander';
import { TASK_STATES } from '../../core/task/control.ts';
import type { TaskRecord } from '../../store/task/task-record.ts';
import {
  addCommon,
  addTaskQueue,
  type Cli,
  type CommonOptions,
  GROUPS,
  parseObject,
  parsePositive,
  parseWhole,
  withExitCode,
} from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { EXIT } from '../exit.ts';
import { dateAndTime, dimNote, note, printJson, printLine, tone, toTable } from '../output/output.ts';
import { escapeControls, shorten } from '../output/terminal-text.ts';
import { addTaskShow, describeTask } from './task-show.ts';

export function addTasks(program: Command, cli: Cli): void {
  const tasks = program
    .command('tasks')
    .alias('task')
    .helpGroup(GROUPS.talk)
    .summary('tasks: see "everthread tasks --help"')
    .description(
      'A task observes its domain, measures it, decides and acts, until it is done (docs/tasks.md). Its questions are answered with "everthread waits".',
    );
  addStart(tasks, cli);
  addList(tasks, cli);
  addTaskShow(tasks, cli);
  addAbort(tasks, cli);
}

interface StartOptions extends CommonOptions {
  readonly id?: string;
  readonly intent?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly maxSteps?: number;
  readonly maxCost?: number;
  readonly maxSeconds?: number;
  readonly user?: string;
  readonly scenario?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
  readonly taskQueue?: string;
}

function addStart(tasks: Command, cli: Cli): void {
  const command = tasks
    .command('start')
    .summary('start a task')
    .description(
      'Starts a task of agents/tasks and prints its id. Starting the same id again attaches to the same task, which continues where it was. ' +
        'With --wait: exit code 0 if it is completed or waits for people, else 1.',
    )
    .argument('<task>', 'name of the task')
    .option('--id <id>', 'id of the task (default: generated)')
    .option('--intent <label>', 'label of the operation, without text of a user (default: the name)')
    .option('--inputs <json>', 'what it works on, as a JSON object', parseObject)
    .option('--max-steps <n>', 'how many times it may act or ask', parseWhole)
    .option('--max-cost <usd>', 'the most that it may spend', parsePositive)
    .option('--max-seconds <n>', 'how long it may work', parsePositive)
    .option('--user <id>', 'id of the user that it works for')
    .option('--scenario <id>', 'scenario by which it is compared')
    .option('-w, --wait', 'exit when the task has ended, or waits for people')
    .option('--timeout <seconds>', 'with --wait: give up after this time', parsePositive);
  addCommon(addTaskQueue(command)).action(withExitCode(cli, startTask));
}

async function startTask(task: string, options: StartOptions): Promise<number> {
  const { id, intent, inputs, maxSteps, maxCost, maxSeconds, user, scenario, wait, timeout, json } = options;
  const budget = {
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(maxSeconds === undefined ? {} : { maxWallMs: Math.round(maxSeconds * 1000) }),
  };
  const { withClient } = await import('../connection/open-client.ts');
  return withClient({ ...options, createStore: true }, async ({ tasks }) => {
    const started = await tasks.start({
      task,
      ...(id === undefined ? {} : { id }),
      ...(intent === undefined ? {} : { intent }),
      ...(inputs === undefined ? {} : { inputs }),
      ...(Object.keys(budget).length === 0 ? {} : { budget }),
      ...(user === undefined ? {} : { userId: user }),
      ...(scenario === undefined ? {} : { scenarioId: scenario }),
    });
    if (!wait) {
      if (json) printJson(started);
      else printLine(started.id);
      return EXIT.done;
    }
    const ended = await tasks.wait(started.id, timeout === undefined ? {} : { timeoutMs: timeout * 1000 });
    if (json) printJson(ended);
    else printLine(escapeControls(toTable(describeTask(ended))));
    return ended.status === 'completed' || ended.status === 'waiting' ? EXIT.done : EXIT.failed;
  });
}

interface ListOptions extends CommonOptions {
  readonly task?: string;
  readonly status?: TaskRecord['status'];
  readonly user?: string;
  readonly limit: number;
}

function addList(tasks: Command, cli: Cli): void {
  const command = tasks
    .command('list')
    .summary('list tasks, the latest first')
    .description('Lists tasks, the latest first. With --json: { tasks }.')
    .option('--task <name>', 'only those of this name')
    .addOption(new Option('--status <status>', 'only those in this status').choices(TASK_STATES))
    .option('--user <id>', 'only those of this user')
    .option('--limit <n>', 'at most n', parseWhole, 50);
  addCommon(command).action(withExitCode(cli, listTasks));
}

async function listTasks({ project, json, task, status, user, limit }: ListOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    // Tasks whose process was lost are ended first, even if no worker has checked.
    await store.producers.closeLost();
    const found = await store.tasks.list({
      limit,
      ...(task === undefined ? {} : { name: task }),
      ...(status === undefined ? {} : { status }),
      ...(user === undefined ? {} : { userId: user }),
    });
    if (json) return printJson({ tasks: found });
    if (found.length === 0) return note('No matching tasks.');
    const rows = found.map((each) => [
      each.id,
      shorten(each.name, 30),
      each.status,
      String(each.steps),
      dateAndTime(each.createdAt),
      shorten(each.verdict?.reason ?? '', 50),
    ]);
    const [heading = '', ...lines] = toTable([
      ['TASK', 'NAME', 'STATUS', 'STEPS', 'STARTED', 'REASON'],
      ...rows,
    ]).split('\n');
    printLine(tone('dim', heading));
    for (const line of lines) printLine(escapeControls(line));
    if (found.length === limit) dimNote(`At most ${limit} are shown: --limit shows more.`);
  });
  return undefined;
}

function addAbort(tasks: Command, cli: Cli): void {
  const command = tasks
    .command('abort')
    .summary('abort a task')
    .description(
      'Aborts a task: its current work is interrupted, and it ends as aborted. A task that has ended does not change.',
    )
    .argument('<id>', 'id of the task')
    .option('--reason <text>', 'why');
  addCommon(addTaskQueue(command)).action(withExitCode(cli, abortTask));
}

interface AbortOptions extends CommonOptions {
  readonly reason?: string;
  readonly taskQueue?: string;
}

async function abortTask(id: string, options: AbortOptions): Promise<undefined> {
  const { withClient } = await import('../connection/open-client.ts');
  await withClient(options, async ({ tasks }) => {
    await tasks.abort(id, options.reason);
    if (options.json) printJson({ id });
    else note(`Asked task ${id} to end.`);
  });
  return undefined;
}
