/** `everthread env …`: variables of threads, users and the instance. These commands need the store, and no server. */
import { variableProblem } from '../../core/project/env.ts';
import { isThreadId } from '../../core/thread/start-input.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { shorten } from '../../core/value/shown-text.ts';
import type { EnvOwner } from '../../store/env/env-record.ts';
import {
  argument,
  type CommandDefinition,
  command,
  idOption,
  option,
  toggle,
  type Values,
} from '../command.ts';
import { storeCommand, withStore } from '../connection/find-store.ts';
import { EXIT } from '../exit.ts';
import { readSecret } from '../input/read-secret.ts';
import { listing } from '../output/listing.ts';

const NAME = argument('name of the variable');

const OWNER = {
  thread: { ...idOption('thread', 'of this thread'), conflicts: ['user', 'instance'] },
  user: { ...option('<id>', "of this user's threads"), conflicts: ['instance'] },
  instance: toggle('of all threads of the store (default)'),
};

const set = command({
  summary: 'set a variable; the value comes from standard input',
  description:
    'Sets a variable, for the whole instance unless a thread or a user is named; they need not exist yet. The value ' +
    'is read from standard input, on a terminal without showing it, and never from the command line. A new variable ' +
    'is a secret: it never reaches a model, and is redacted from tool results. --type text is for values that may be shown.',
  arguments: { name: NAME },
  options: {
    type: option('<type>', 'default: its current type, else secret', ['text', 'secret'] as const),
    ...OWNER,
  },
  async run(options) {
    const { project, name, type } = options;
    const owner = toOwner(options);
    const problem = variableProblem(name, '', type);
    // Checked before a value is typed.
    if (problem) throw new RuntimeError('InvalidVariable', problem);
    return withStore(
      project,
      async (store) => {
        const value = await readSecret(`Value of ${name} (not shown): `);
        const now = await store.env.set({ owner, name, value, type });
        const empty = value === '' ? ', to the empty string' : '';
        return {
          json: { name, ...owner, type: now },
          note: `Set ${name} of ${ownerText(owner)}, a ${now}${empty}.`,
          ...(now === 'secret' && type === undefined
            ? { hint: 'A secret never reaches a model; --type text is for values that may be shown.' }
            : {}),
        };
      },
      true,
    );
  },
});

const list = command({
  summary: 'list variables; secrets without their values',
  description: 'Lists the variables of the instance, of a thread or of a user. Secrets are never shown.',
  options: OWNER,
  async run(options) {
    const owner = toOwner(options);
    return withStore(options.project, async (store) => {
      const found = await store.env.list(owner);
      const listed = listing('variables', found, {
        columns: {
          NAME: 'name',
          TYPE: 'type',
          SET: 'updatedAt',
          VALUE({ type, value, keyId }) {
            if (value !== undefined) return shorten(value, 80);
            return type === 'secret' ? '(not shown)' : `(not readable: key "${keyId}")`;
          },
        },
        none: `No variables of ${ownerText(owner)}.`,
        plainHeading: true,
      });
      return { ...listed, json: { ...owner, variables: found } };
    });
  },
});

const unset = command({
  summary: 'remove a variable',
  description: 'Removes a variable of the instance, of a thread or of a user.',
  arguments: { name: NAME },
  options: OWNER,
  async run(options) {
    const { name } = options;
    const owner = toOwner(options);
    const removed = await withStore(options.project, (store) => store.env.unset(owner, name));
    const [done, exit] = removed ? ['Removed', EXIT.done] : ['There is no variable', EXIT.notFound];
    return { json: { name, ...owner, removed }, note: `${done} ${name} of ${ownerText(owner)}.`, exit };
  },
});

const rotate = storeCommand({
  summary: 'encrypt all variables again with the first key',
  description:
    'Encrypts every variable again that is not encrypted with the first key of EVERTHREAD_ENCRYPTION_KEYS (or of ' +
    '.everthread/encryption.key). After that the other keys are no longer needed.',
  async read(store) {
    const { keyId, rotated } = await store.env.rotate();
    const count = `${rotated} ${rotated === 1 ? 'variable' : 'variables'}`;
    return {
      json: { keyId, rotated },
      note: `Encrypted ${count} again. All are encrypted with "${keyId}" now.`,
    };
  },
});

export const envCommands: CommandDefinition = {
  description:
    'Variables that tools read with state.env and prompts show with env parts. A thread uses its own value, else that ' +
    'of its user, else that of the instance, else that of its agent and prompt. All values are encrypted in the store.',
  commands: { set, list, unset, rotate },
};

/** Throws `InvalidStart` for an invalid thread id: its variable would never be found. */
function toOwner({ thread, user }: Values<typeof OWNER>): EnvOwner {
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
