/**
 * Every command by its name, with what lists of commands show of it and the file that defines it. A command thus loads
 * only what it uses, and `--help` hardly anything. `test/cli/command-table.test.ts` compares the table with the commands.
 * `reads: true`: the command needs only the store. In a package these commands run from one bundled file (`start.ts`),
 * which contains `commands/reading.ts` and no other command file.
 */
import type { CommandDefinition } from './command.ts';

/** What lists show of a command, and how it is loaded. */
export interface ListedCommand {
  readonly alias?: string;
  readonly group?: string;
  readonly summary: string;
  /** Arguments as usage shows them: `<thread> [text]`; `[command]` for a command that has others below it. */
  readonly usage?: string;
  readonly reads?: boolean;
  readonly below?: CommandTable;
  /** Loads the command with all below it, unless `below` lists them. */
  readonly load: () => Promise<CommandDefinition>;
}

export type CommandTable = Readonly<Record<string, ListedCommand>>;

const [run, talk, project] = ['Running agents:', 'Talking to them:', 'Project:'] as const;

const loadReading = () => import('./commands/reading.ts');
const loadSend = () => import('./commands/thread-send.ts');
const loadEnd = () => import('./commands/thread-end.ts');

const THREADS: CommandTable = {
  start: {
    usage: '<agent> [text]',
    summary: 'start a thread of an agent',
    load: async () => (await loadSend()).threadStart,
  },
  send: {
    usage: '<thread> [text]',
    summary: 'send a thread a message',
    load: async () => (await loadSend()).threadSend,
  },
  tool: {
    usage: '<thread> <name> [arguments]',
    summary: 'have a thread run a tool',
    load: async () => (await loadSend()).threadTool,
  },
  show: {
    usage: '<thread>',
    reads: true,
    summary: "show a thread's status and messages",
    load: async () => (await loadReading()).threadShow,
  },
  tail: {
    usage: '<thread>',
    reads: true,
    summary: 'follow what a thread does',
    load: async () => (await loadReading()).threadTail,
  },
  files: {
    usage: '<thread> [path]',
    reads: true,
    summary: 'list the files of a thread, or print one',
    load: async () => (await loadReading()).threadFiles,
  },
  upload: {
    usage: '<thread> <path> [file]',
    reads: true,
    summary: 'write a file of a thread',
    load: async () => (await loadReading()).threadUpload,
  },
  values: {
    usage: '<thread> [key]',
    reads: true,
    summary: 'list the values of a thread, or print one',
    load: async () => (await loadReading()).threadValues,
  },
  effects: {
    usage: '[command] <thread>',
    summary: 'list the effects that a thread has scheduled, or cancel one',
    load: async () => (await import('./commands/thread-effects.ts')).threadEffects,
  },
  logs: {
    usage: '<thread>',
    reads: true,
    summary: 'model calls with tokens and cost, tool calls, executions',
    load: async () => (await loadReading()).threadLogs,
  },
  request: {
    usage: '<thread> [call]',
    reads: true,
    summary: 'show what a model was sent',
    load: async () => (await loadReading()).threadRequest,
  },
  list: {
    reads: true,
    summary: 'list threads, the latest first',
    load: async () => (await loadReading()).threadList,
  },
  tree: {
    usage: '<thread>',
    reads: true,
    summary: 'show a thread with its subagents',
    load: async () => (await loadReading()).threadTree,
  },
  fork: {
    usage: '<thread>',
    summary: 'make a new thread with the messages of another one up to a step',
    load: async () => (await loadSend()).threadFork,
  },
  stop: {
    usage: '<thread>',
    summary: 'stop what a thread is doing now',
    load: async () => (await loadEnd()).threadStop,
  },
  continue: {
    usage: '<thread>',
    summary: 'let a thread continue without another message',
    load: async () => (await loadEnd()).threadContinue,
  },
  regenerate: {
    usage: '<thread>',
    summary: 'answer a message of a thread again',
    load: async () => (await import('./commands/thread-supersede.ts')).threadRegenerate,
  },
  edit: {
    usage: '<thread> <message> <text>',
    summary: 'edit a message of a thread, and answer it again',
    load: async () => (await import('./commands/thread-supersede.ts')).threadEdit,
  },
  cancel: {
    usage: '<thread>',
    summary: 'cancel an execution of a thread',
    load: async () => (await loadEnd()).threadCancel,
  },
  terminate: {
    usage: '<thread>',
    summary: 'terminate a thread permanently',
    load: async () => (await loadEnd()).threadTerminate,
  },
  delete: {
    usage: '<thread>',
    summary: 'terminate a thread and delete its data',
    load: async () => (await loadEnd()).threadDelete,
  },
  export: {
    usage: '<thread>',
    summary: 'write a thread or its Temporal history as JSON',
    load: async () => (await import('./commands/thread-export.ts')).threadExport,
  },
};

export const COMMANDS: CommandTable = {
  dev: {
    group: run,
    summary: 'run everything on this machine: Temporal server, worker, HTTP API, reload on change',
    load: async () => (await import('./commands/dev.ts')).dev,
  },
  worker: {
    group: run,
    summary: 'run a worker against an existing Temporal server',
    load: async () => (await import('./commands/worker.ts')).worker,
  },
  api: {
    group: run,
    summary: 'serve threads over HTTP',
    load: async () => (await import('./commands/api.ts')).api,
  },
  mcp: {
    group: run,
    summary: 'serve agents as tools, over standard streams',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  tokens: {
    group: run,
    usage: '[command]',
    summary: 'manage the tokens of the HTTP API: see "everthread tokens --help"',
    load: async () => (await import('./commands/tokens.ts')).tokenCommands,
  },
  chat: {
    group: talk,
    usage: '[agent]',
    summary: 'talk to an agent in the terminal',
    load: async () => (await import('./commands/chat.ts')).chat,
  },
  threads: {
    alias: 'thread',
    group: talk,
    usage: '[command]',
    summary: 'start threads, talk to them, read them: see "everthread threads --help"',
    reads: true,
    below: THREADS,
    load: async () => ({ description: 'Threads are conversations with agents: durable, one id each.' }),
  },
  waits: {
    group: talk,
    usage: '[command]',
    summary: 'list and answer approvals and questions: see "everthread waits --help"',
    load: async () => (await import('./commands/waits.ts')).waitCommands,
  },
  tasks: {
    alias: 'task',
    group: talk,
    usage: '[command]',
    summary: 'tasks: see "everthread tasks --help"',
    load: async () => (await import('./commands/tasks.ts')).taskCommands,
  },
  runs: {
    alias: 'run',
    group: talk,
    usage: '[command]',
    summary: 'executions of all threads: see "everthread runs --help"',
    load: async () => (await import('./commands/runs.ts')).runCommands,
  },
  variables: {
    group: talk,
    usage: '[command]',
    summary: 'provide the variables that subagents wait for: see "everthread variables --help"',
    load: async () => (await import('./commands/variables.ts')).variableCommands,
  },
  actions: {
    group: talk,
    usage: '[command]',
    summary: 'reconcile calls whose outcome is unknown: see "everthread actions --help"',
    load: async () => (await import('./commands/actions.ts')).actionCommands,
  },
  grants: {
    group: talk,
    usage: '[command]',
    summary: 'list and revoke approvals beyond one call: see "everthread grants --help"',
    load: async () => (await import('./commands/grants.ts')).grantCommands,
  },
  manifest: {
    group: project,
    usage: '[command]',
    summary: 'manifests of agents/manifests: see "everthread manifest --help"',
    load: async () => (await import('./commands/manifest.ts')).manifestCommands,
  },
  env: {
    group: project,
    usage: '[command]',
    summary: 'variables and secrets of agents: see "everthread env --help"',
    load: async () => (await import('./commands/env.ts')).envCommands,
  },
  new: {
    group: project,
    usage: '<dir>',
    summary: 'create a small working project',
    load: async () => (await import('./commands/new.ts')).newProject,
  },
  validate: {
    group: project,
    summary: 'check the definitions of a project',
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  test: {
    group: project,
    usage: '[arguments...]',
    summary: 'run the tests of a project',
    load: async () => (await import('./commands/test.ts')).test,
  },
  code: {
    group: project,
    usage: '[command]',
    summary: 'run a program in the sandbox: see "everthread code run --help"',
    load: async () => (await import('./commands/code-run.ts')).codeCommands,
  },
  doctor: {
    group: project,
    summary: 'check this machine, the project and the server',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
};

/** Returns the commands that `argv` names, outermost first; empty if no command has the first name. */
export function namedCommands(argv: readonly string[], commands: CommandTable = COMMANDS): ListedCommand[] {
  const index = argv.findIndex((word) => !word.startsWith('-'));
  const word = argv[index];
  const found = Object.entries(commands).find(([name, { alias }]) => word === name || word === alias)?.[1];
  return found && word !== undefined
    ? [found, ...namedCommands(argv.slice(index + 1), found.below ?? {})]
    : [];
}
