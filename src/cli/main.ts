/**
 * The `everthread` command: its subcommands, and how each ends. Each folder may import those above it:
 *
 *   connection   the Temporal service and the store of a project, and a client on both
 *   input        what a command reads: texts, files, variables, secrets without echo
 *   output       what a command prints: results, tables, the log, text that is safe for a terminal
 *   answer       a thread's log as it grows: the answer that streams, and waiting for its end
 *   chat         one thread in a terminal
 *   new-project  the files of `everthread new`
 *   project      the definitions of a running worker, reloaded on changes
 *   worker       the worker process, and the command that supervises it
 *   serve        the HTTP API of a project, behind a socket
 *   doctor       the checks of `everthread doctor`
 *   commands     one file per command: its options, and the parts above put together
 *
 * Beside the folders: `command.ts` (what all commands share), `exit.ts` (exit codes and failures), `interruption.ts` (Ctrl-C).
 */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { hideSecrets } from '../secret-environment.ts';
import { packagePath } from '../temporal-service/package-root.ts';
import type { Cli, CommonOptions } from './command.ts';
import { COMMANDS, namedCommands } from './command-table.ts';
import { reportFailure } from './exit.ts';
import { idPlaces } from './input/id-places.ts';
import type { ListedCommand } from './listed-command.ts';

const EXAMPLES = `
Examples:
  everthread new my-agents && cd my-agents && npm install
  everthread dev                                   (server and worker, until Ctrl-C)
  everthread chat assistant                        (in another terminal)
  everthread threads start assistant "Hello" --wait

The server is TEMPORAL_ADDRESS or a Temporal profile, else the one of "everthread dev", else 127.0.0.1:7233.
Ids may be shortened to a unique beginning of 4 characters or more. With --json times are ISO 8601, in UTC.
Threads live in EVERTHREAD_STORE (default sqlite:.everthread/store.db). EVERTHREAD_LOG=debug logs more.
Exit codes: 0 done, 1 failed, 2 usage or invalid input, 3 not found or terminated.`;

/** `argv` without node and script. Resolves to the exit code; never rejects. */
export async function main(argv: string[]): Promise<number> {
  const cli: Cli = { exitCode: 0 };
  hideSecrets();
  // By default Node opens a debugger port when it receives this signal.
  process.on('SIGUSR1', () => undefined);
  // A reader that closes early, such as `head`, is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  try {
    const program = await buildProgram(cli, argv);
    await program.parseAsync(argv, { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    return reportFailure(error, isJson(argv));
  }
}

/** True if failures are printed as JSON; needed also before a command has read its options. */
function isJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}

/** Builds the commands that `argv` names in full; the others have only what lists show of them. */
export async function buildProgram(cli: Cli, argv: readonly string[]): Promise<Command> {
  const program = new Command('everthread')
    .description('Runs Standard Agents as durable threads on Temporal.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show help; "everthread COMMAND --help" shows that of one command')
    .addHelpText('after', EXAMPLES);
  await addCommands(program, cli, COMMANDS, namedCommands(argv));
  program.hook('preAction', (_, command) => setProjectEnv(command));
  program.hook('preAction', (_, command) => completeIdsOf(command));
  applySettings(program);
  return program;
}

async function addCommands(
  parent: Command,
  cli: Cli,
  listed: readonly ListedCommand[],
  [named, ...inner]: readonly ListedCommand[],
): Promise<void> {
  for (const each of listed) {
    if (each === named) (await each.load())(parent, cli);
    else addStub(parent, each);
    if (each === named && each.below)
      await addCommands(parent.commands.at(-1) as Command, cli, each.below, inner);
  }
}

function addStub(parent: Command, { name, alias, group, summary, usage = '' }: ListedCommand): void {
  const command = parent.command(name).summary(summary).usage(usage);
  if (alias !== undefined) command.alias(alias);
  if (group !== undefined) command.helpGroup(group);
}

async function completeIdsOf(command: Command): Promise<void> {
  const { project } = command.opts();
  const places = project === undefined ? [] : idPlaces(command);
  if (places.length > 0) await (await import('./connection/complete-ids.ts')).completeIds(project, places);
}

/** Commands that load the project's models, which read their settings when they are loaded. */
const WITH_ENV_FILE: Readonly<Record<string, 'told' | 'quiet'>> = {
  dev: 'told',
  worker: 'told',
  api: 'told',
  chat: 'told',
  validate: 'quiet',
};

async function setProjectEnv(command: Command): Promise<void> {
  const how = command.parent?.parent ? undefined : WITH_ENV_FILE[command.name()];
  if (how === undefined) return;
  const { envFileText, readEnvFile } = await import('./project/env-file.ts');
  const read = readEnvFile(command.opts<CommonOptions>().project);
  if (!read || how === 'quiet') return;
  const { announce } = await import('./output/announce.ts');
  announce({ text: envFileText(read) });
}

/** Applies settings that commander does not pass on to commands added later. */
function applySettings(command: Command): void {
  command
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError(`"${pathOf(command)} --help" shows help.`);
  command.configureHelp({ ...HELP });
  for (const child of command.commands) applySettings(child);
}

const HELP = {
  sortSubcommands: false,
  subcommandTerm: (command: Command) =>
    `${command.name()} ${command.usage().replace('[options]', '').trim()}`.replace('[command]', '…').trim(),
};

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function packageVersion(): string {
  return (JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string }).version;
}
