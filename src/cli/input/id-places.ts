/** Where commands take ids of what is stored. Whatever is typed there may be the beginning of one; `connection/complete-ids.ts` completes it. */
import type { Command } from 'commander';
import type { IdKind } from '../../store/port/id.ts';

export interface IdPlace {
  readonly kind: IdKind;
  readonly id: string;
  complete(whole: string): void;
}

/** Arguments by their names; `<id>` is that of what the command above is about. */
const ARGUMENTS: Readonly<Record<string, IdKind>> = {
  thread: 'thread',
  action: 'action',
  request: 'request',
  effect: 'effect',
};
const ABOUT: Readonly<Record<string, IdKind>> = {
  threads: 'thread',
  tasks: 'task',
  runs: 'execution',
  waits: 'wait',
  tokens: 'token',
};
/** `--execution` of what is sent names a new one. */
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
    const kind = argument.name() === 'id' ? ABOUT[above] : ARGUMENTS[argument.name()];
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
