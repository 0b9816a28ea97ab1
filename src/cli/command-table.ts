/**
 * Every command by its name, with what lists of commands show of it and the file that it is loaded from. A command thus
 * loads only what it uses, and `--help` hardly anything. `test/cli/command-table.test.ts` compares the table with the
 * actual commands.
 * `reads: true`: the command needs only the store. In a package these commands run from one bundled file (`start.ts`),
 * which contains `commands/reading.ts` and no other command file.
 */
import { GROUPS } from './command.ts';
import { GROUP, type ListedCommand } from './listed-command.ts';
import { THREADS } from './thread-table.ts';

const { run, talk, project } = GROUPS;

const loadReading = () => import('./commands/reading.ts');

export const COMMANDS: readonly ListedCommand[] = [
  {
    name: 'dev',
    group: run,
    summary: 'run everything on this machine: Temporal server, worker, HTTP API, reload on change',
    load: async () => (await import('./commands/dev.ts')).addDev,
  },
  {
    name: 'worker',
    group: run,
    summary: 'run a worker against an existing Temporal server',
    load: async () => (await import('./commands/worker.ts')).addWorker,
  },
  {
    name: 'api',
    group: run,
    summary: 'serve threads over HTTP',
    load: async () => (await import('./commands/api.ts')).addApi,
  },
  {
    name: 'mcp',
    group: run,
    summary: 'serve agents as tools, over standard streams',
    load: async () => (await import('./commands/mcp.ts')).addMcp,
  },
  {
    name: 'tokens',
    group: run,
    usage: GROUP,
    summary: 'manage the tokens of the HTTP API: see "everthread tokens --help"',
    load: async () => (await import('./commands/tokens.ts')).addTokens,
  },
  {
    name: 'chat',
    group: talk,
    usage: '[agent]',
    summary: 'talk to an agent in the terminal',
    load: async () => (await import('./commands/chat.ts')).addChat,
  },
  {
    name: 'threads',
    alias: 'thread',
    group: talk,
    usage: GROUP,
    summary: 'start threads, talk to them, read them: see "everthread threads --help"',
    reads: true,
    below: THREADS,
    load: async () => (await loadReading()).addThreads,
  },
  {
    name: 'waits',
    group: talk,
    usage: GROUP,
    summary: 'list and answer approvals and questions: see "everthread waits --help"',
    load: async () => (await import('./commands/waits.ts')).addWaits,
  },
  {
    name: 'tasks',
    alias: 'task',
    group: talk,
    usage: GROUP,
    summary: 'tasks: see "everthread tasks --help"',
    load: async () => (await import('./commands/tasks.ts')).addTasks,
  },
  {
    name: 'runs',
    alias: 'run',
    group: talk,
    usage: GROUP,
    summary: 'executions of all threads: see "everthread runs --help"',
    load: async () => (await import('./commands/runs.ts')).addRuns,
  },
  {
    name: 'variables',
    group: talk,
    usage: GROUP,
    summary: 'provide the variables that subagents wait for: see "everthread variables --help"',
    load: async () => (await import('./commands/variables.ts')).addVariables,
  },
  {
    name: 'actions',
    group: talk,
    usage: GROUP,
    summary: 'reconcile calls whose outcome is unknown: see "everthread actions --help"',
    load: async () => (await import('./commands/actions.ts')).addActions,
  },
  {
    name: 'manifest',
    group: project,
    usage: GROUP,
    summary: 'manifests of agents/manifests: see "everthread manifest --help"',
    load: async () => (await import('./commands/manifest.ts')).addManifest,
  },
  {
    name: 'env',
    group: project,
    usage: GROUP,
    summary: 'variables and secrets of agents: see "everthread env --help"',
    load: async () => (await import('./commands/env.ts')).addEnv,
  },
  {
    name: 'new',
    group: project,
    usage: '<dir>',
    summary: 'create a small working project',
    load: async () => (await import('./commands/new.ts')).addNew,
  },
  {
    name: 'validate',
    group: project,
    summary: 'check the definitions of a project',
    load: async () => (await import('./commands/validate.ts')).addValidate,
  },
  {
    name: 'code',
    group: project,
    usage: GROUP,
    summary: 'run a program in the sandbox: see "everthread code run --help"',
    load: async () => (await import('./commands/code-run.ts')).addCode,
  },
  {
    name: 'doctor',
    group: project,
    summary: 'check this machine, the project and the server',
    load: async () => (await import('./commands/doctor.ts')).addDoctor,
  },
];

/** Returns the commands that `argv` names, outermost first; empty if no command has the first name. */
export function namedCommands(
  argv: readonly string[],
  commands: readonly ListedCommand[] = COMMANDS,
): ListedCommand[] {
  const index = argv.findIndex((word) => !word.startsWith('-'));
  const found =
    index < 0 ? undefined : commands.find(({ name, alias }) => argv[index] === name || argv[index] === alias);
  return found ? [found, ...namedCommands(argv.slice(index + 1), found.below ?? [])] : [];
}
