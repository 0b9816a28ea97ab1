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
 *   commands     the commands as values: their options, and the parts above put together
 *
 * Beside the folders: `command.ts` (what a command is), `command-table.ts` (all of them by name), `exit.ts` (exit codes and failures), `interruption.ts` (Ctrl-C).
 */
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { hideSecrets } from '../secret-environment.ts';
import { packageVersion } from '../temporal-service/package-root.ts';
import {
  type CommandDefinition,
  commonOptions,
  type Input,
  type Parameter,
  type Parameters,
} from './command.ts';
import { COMMANDS, type CommandTable, type ListedCommand, namedCommands } from './command-table.ts';
import { EXIT, reportFailure } from './exit.ts';
import { dimNote, note, printJson, printLine } from './output/output.ts';

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

interface Cli {
  exitCode: number;
}

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

type Given = Input<Parameters, Parameters>;

/** Builds the commands that `argv` names in full; the others have only what lists show of them. */
export async function buildProgram(cli: Cli, argv: readonly string[]): Promise<Command> {
  const program = new Command('everthread')
    .description('Runs Standard Agents as durable threads on Temporal.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show help; "everthread COMMAND --help" shows that of one command')
    .addHelpText('after', EXAMPLES);
  await addListed(program, cli, COMMANDS, namedCommands(argv));
  applySettings(program);
  return program;
}

async function addListed(
  parent: Command,
  cli: Cli,
  listed: CommandTable,
  [named, ...inner]: readonly ListedCommand[],
): Promise<void> {
  for (const [name, each] of Object.entries(listed)) {
    const command = parent.command(name).summary(each.summary);
    if (each.alias !== undefined) command.alias(each.alias);
    if (each.group !== undefined) command.helpGroup(each.group);
    if (each === named) {
      define(command, cli, await each.load());
      await addListed(command, cli, each.below ?? {}, inner);
    } else command.usage(each.usage ?? '');
  }
}

function define(command: Command, cli: Cli, definition: CommandDefinition): void {
  const { summary, description, arguments: taken = {}, options = {}, help, commands = {}, run } = definition;
  if (summary !== undefined) command.summary(summary);
  command.description(description);
  for (const [key, each] of Object.entries(taken)) command.addArgument(toArgument(key, each));
  if (run) {
    for (const [key, each] of Object.entries({ ...options, ...commonOptions() }))
      command.addOption(toOption(key, each));
    command.action(async (...words: unknown[]) => {
      const named = Object.fromEntries(Object.keys(taken).map((key, index) => [key, words[index]]));
      cli.exitCode = await execute(definition, { ...command.optsWithGlobals<Given>(), ...named });
    });
  }
  if (help !== undefined) command.addHelpText('after', help);
  for (const [name, each] of Object.entries(commands)) define(command.command(name), cli, each);
}

function toArgument(key: string, { help, required, variadic, parse, default: standard }: Parameter<unknown>) {
  const name = variadic ? `${key}...` : key;
  const argument = new Argument(required ? `<${name}>` : `[${name}]`, help).default(standard);
  return parse ? argument.argParser(parse) : argument;
}

function toOption(key: string, given: Parameter<unknown>): Option {
  const {
    help,
    value = '',
    short,
    negated,
    choices,
    default: standard,
    defaultText,
    conflicts,
    parse,
  } = given;
  const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const flags = `${short ? `${short}, ` : ''}--${negated ? 'no-' : ''}${name} ${value}`.trim();
  const option = new Option(flags, help).conflicts([...(conflicts ?? [])]);
  if (choices) option.choices(choices as string[]);
  else if (parse) option.argParser(parse);
  refuseBlank(option);
  return standard === undefined ? option : option.default(standard, defaultText);
}

/** A variable of a shell that is not set makes a blank value: taken for one, it would name a queue or a user. */
function refuseBlank(option: Option): void {
  if (!option.required && !option.optional) return;
  const keep = (text: string, before?: unknown): unknown =>
    option.variadic ? [...((before as readonly string[] | undefined) ?? []), text] : text;
  const { parseArg: parse = keep } = option;
  option.argParser((text, before) => {
    if (text.trim() === '') throw new InvalidArgumentError('Give a value, or leave the option out.');
    return parse(text, before);
  });
}

async function execute(definition: CommandDefinition, input: Given): Promise<number> {
  const { arguments: taken, options, envFile, run } = definition;
  if (envFile) await readSettings(input, envFile);
  const places = Object.entries({ ...taken, ...options }).flatMap(([key, { id }]) =>
    id ? [{ key, kind: id }] : [],
  );
  const whole =
    places.length === 0
      ? input
      : await (await import('./connection/complete-ids.ts')).completeIds(input, places);
  const outcome = await run?.(whole);
  if (typeof outcome !== 'object') return outcome ?? EXIT.done;
  const { json, text, note: told, hint, exit = EXIT.done } = outcome;
  if (input.json) printJson(json);
  else {
    if (text !== undefined) printLine(text);
    if (told !== undefined) note(told);
    if (hint !== undefined) dimNote(hint);
  }
  return exit;
}

async function readSettings({ project }: Given, how: 'announced' | 'quiet'): Promise<void> {
  const { envFileText, readEnvFile } = await import('./project/env-file.ts');
  const read = readEnvFile(project);
  if (!read || how === 'quiet') return;
  const { announce } = await import('./output/logger.ts');
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
