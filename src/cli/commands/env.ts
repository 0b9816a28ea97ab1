/** `everthread env …`: variables of threads, users and the instance. These commands need the store, and no server. */
import { type Command, Option } from 'commander';
import type { EnvType } from '../../core/author/thread-env.ts';
import { variableProblem } from '../../core/project/env.ts';
import { isThreadId } from '../../core/thread/start-input.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { EnvOwner } from '../../store/env/env-record.ts';
import { addCommon, type Cli, type CommonOptions, GROUPS, withExitCode } from '../command.ts';
import { withOwnStore, withStore } from '../connection/find-store.ts';
import { EXIT } from '../exit.ts';
import { readSecret } from '../input/read-secret.ts';
import { dateAndTime, dimNote, note, printJson, printLine, toTable } from '../output/output.ts';
import { shorten } from '../output/terminal-text.ts';

interface OwnerOptions extends CommonOptions {
  readonly thread?: string;
  readonly user?: string;
  readonly instance?: boolean;
}

interface SetOptions extends OwnerOptions {
  readonly type?: EnvType;
}

const VALUE_LENGTH = 80;

export function addEnv(program: Command, cli: Cli): void {
  const env = program
    .command('env')
    .helpGroup(GROUPS.project)
    .summary('variables and secrets of agents: see "everthread env --help"')
    .description(
      'Variables that tools read with state.env and prompts show with env parts. A thread uses its own value, else that ' +
        'of its user, else that of the instance, else that of its agent and prompt. All values are encrypted in the store.',
    );
  addSet(env, cli);
  addList(env, cli);
  addUnset(env, cli);
  addRotate(env, cli);
}

function addSet(env: Command, cli: Cli): void {
  const set = env
    .command('set')
    .summary('set a variable; the value comes from standard input')
    .description(
      'Sets a variable, for the whole instance unless a thread or a user is named; they need not exist yet. The value ' +
        'is read from standard input, on a terminal without showing it, and never from the command line. A new variable ' +
        'is a secret: it never reaches a model, and is redacted from tool results. --type text is for values that may be shown.',
    )
    .argument('<name>', 'name of the variable')
    .addOption(
      new Option('--type <type>', 'default: its current type, else secret').choices(['text', 'secret']),
    );
  addCommon(addOwner(set)).action(withExitCode(cli, setVariable));
}

function addList(env: Command, cli: Cli): void {
  const list = env
    .command('list')
    .summary('list variables; secrets without their values')
    .description('Lists the variables of the instance, of a thread or of a user. Secrets are never shown.');
  addCommon(addOwner(list)).action(withExitCode(cli, listVariables));
}

function addUnset(env: Command, cli: Cli): void {
  const unset = env
    .command('unset')
    .summary('remove a variable')
    .description('Removes a variable of the instance, of a thread or of a user.')
    .argument('<name>', 'name of the variable');
  addCommon(addOwner(unset)).action(withExitCode(cli, unsetVariable));
}

function addRotate(env: Command, cli: Cli): void {
  const rotate = env
    .command('rotate')
    .summary('encrypt all variables again with the first key')
    .description(
      'Encrypts every variable again that is not encrypted with the first key of EVERTHREAD_ENCRYPTION_KEYS (or of ' +
        '.everthread/encryption.key). After that the other keys are no longer needed.',
    );
  addCommon(rotate).action(withExitCode(cli, rotateKeys));
}

function addOwner(command: Command): Command {
  return command
    .addOption(new Option('--thread <id>', 'of this thread').conflicts(['user', 'instance']))
    .addOption(new Option('--user <id>', "of this user's threads").conflicts(['instance']))
    .addOption(new Option('--instance', 'of all threads of the store (default)'));
}

async function setVariable(name: string, options: SetOptions): Promise<undefined> {
  const { project, type, json } = options;
  const owner = toOwner(options);
  const problem = variableProblem(name, '', type);
  // Checked before a value is typed.
  if (problem) throw new RuntimeError('InvalidVariable', problem);
  await withOwnStore(project, async (store) => {
    const value = await readSecret(`Value of ${name} (not shown): `);
    const now = await store.env.set({ owner, name, value, type });
    if (json) return printJson({ name, ...owner, type: now });
    note(`Set ${name} of ${ownerText(owner)}, a ${now}${value === '' ? ', to the empty string' : ''}.`);
    if (now === 'secret' && type === undefined) {
      dimNote('A secret never reaches a model; --type text is for values that may be shown.');
    }
  });
  return undefined;
}

async function listVariables(options: OwnerOptions): Promise<undefined> {
  const owner = toOwner(options);
  await withStore(options.project, async (store) => {
    const variables = await store.env.list(owner);
    if (options.json) return printJson({ ...owner, variables });
    if (variables.length === 0) return note(`No variables of ${ownerText(owner)}.`);
    const rows = variables.map(({ name, type, value, keyId, updatedAt }) => {
      const hidden = type === 'secret' ? '(not shown)' : `(not readable: key "${keyId}")`;
      return [
        name,
        type,
        dateAndTime(updatedAt),
        value === undefined ? hidden : shorten(value, VALUE_LENGTH),
      ];
    });
    printLine(toTable([['NAME', 'TYPE', 'SET', 'VALUE'], ...rows]));
  });
  return undefined;
}

async function unsetVariable(name: string, options: OwnerOptions): Promise<number> {
  const owner = toOwner(options);
  return withStore(options.project, async (store) => {
    const removed = await store.env.unset(owner, name);
    if (options.json) printJson({ name, ...owner, removed });
    else
      note(
        removed
          ? `Removed ${name} of ${ownerText(owner)}.`
          : `There is no variable ${name} of ${ownerText(owner)}.`,
      );
    return removed ? EXIT.done : EXIT.notFound;
  });
}

async function rotateKeys({ project, json }: CommonOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    const { keyId, rotated } = await store.env.rotate();
    if (json) return printJson({ keyId, rotated });
    note(
      `Encrypted ${rotated} ${rotated === 1 ? 'variable' : 'variables'} again. All are encrypted with "${keyId}" now.`,
    );
  });
  return undefined;
}

/** Throws `InvalidStart` for an invalid thread id: its variable would never be found. */
function toOwner({ thread, user }: OwnerOptions): EnvOwner {
  if (thread === undefined) return user === undefined ? { instance: true } : { user };
  if (isThreadId(thread)) return { thread };
  throw new RuntimeError(
    'InvalidStart',
    `"${thread}" is not a valid thread id: use only letters, digits and . _ : -.`,
  );
}

function ownerText(owner: EnvOwner): string {
  if ('thread' in owner) return `thread ${owner.thread}`;
  return 'user' in owner ? `user ${owner.user}` : 'the instance';
}
