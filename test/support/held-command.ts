/** Holds back a command of the store until the test releases it, as if its process had stalled right before it. */
import type { ThreadStore } from '../../src/store/store.ts';

type Group = 'steps' | 'threads' | 'toolCalls';
type Commands = Record<string, (command: never) => Promise<unknown>>;

export interface HeldCommands {
  /** Releases of the commands that are held, in the order in which they came. */
  readonly held: readonly (() => void)[];
  /** How many of those that were released have returned or failed. */
  readonly over: number;
}

/** Holds the first `most` commands for which `isMeant` is true. */
export function holdCommand<Name extends Group, Command extends keyof ThreadStore[Name] & string>(
  store: ThreadStore,
  [group, name]: readonly [Name, Command],
  isMeant: (
    command: Parameters<Extract<ThreadStore[Name][Command], (...given: never) => unknown>>[0],
  ) => boolean,
  most = 1,
): HeldCommands {
  const commands = store[group] as unknown as Commands;
  const original = commands[name] as (command: never) => Promise<unknown>;
  const held: (() => void)[] = [];
  let over = 0;
  commands[name] = async (command) => {
    if (held.length >= most || !isMeant(command)) return original(command);
    const gate = Promise.withResolvers<void>();
    held.push(gate.resolve);
    await gate.promise;
    try {
      return await original(command);
    } finally {
      over += 1;
    }
  };
  return {
    held,
    get over() {
      return over;
    },
  };
}
