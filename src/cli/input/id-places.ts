/**
 * Finds the arguments and options of a command that take ids of something stored. They may hold the beginning of an id,
 * which `connection/complete-ids.ts` completes.
 */
import type { Command } from 'commander';
import type { IdKind } from '../../store/id/id-record.ts';

export interface IdPlace {
  readonly kind: IdKind;
  readonly id: string;
  complete(whole: string): void;
}

/** Kind of id by argument name; for `<id>`, `KIND_BY_COMMAND` has it by the parent command. */
const ARGUMENTS: Readonly<Record<string, IdKind>> = {
  thread: 'thread',
  action: 'action',
  request: 'request',
  effect: 'effect',
};
const KIND_BY_COMMAND: Readonly<Record<string, IdKind>> = {
  threads: 'thread',
  tasks: 'task',
  runs: 'execution',
  waits: 'wait',
  tokens: 'token',
};
/** Kind of id by command and option. `--execution` of sent messages and calls is missing: it names a new execution. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, IdKind>>>> = {
  'threads list': { parent: 'thread', before: 'thread' },
  'threads cancel': { execution: 'execution' },
  'threads tail': { run: 'execution' },
  'runs list': { before: 'execution' },
};

export function idPlaces(command: Command): IdPlace[] {
  const above = command.parent?.name() ?? '';
  const places: IdPlace[] = [];
  for (const [index, argument] of command.registeredArguments.entries()) {
    const id: unknown = command.processedArgs[index];
    const kind = argument.name() === 'id' ? KIND_BY_COMMAND[above] : ARGUMENTS[argument.name()];
    if (kind === undefined || typeof id !== 'string') continue;
    const complete = (whole: string) => {
      command.processedArgs[index] = whole;
    };
    places.push({ kind, id, complete });
  }
  const options = { thread: 'thread', ...OPTIONS[`${above} ${command.name()}`] } as const;
  for (const [option, kind] of Object.entries(options)) {
    const id: unknown = command.opts()[option];
    if (typeof id !== 'string') continue;
    places.push({ kind, id, complete: (whole) => void command.setOptionValue(option, whole) });
  }
  return places;
}
