/** The table of commands describes commands that are not loaded. */
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { COMMANDS, type CommandTable, namedCommands } from '../../src/cli/command-table.ts';
import * as reading from '../../src/cli/commands/reading.ts';
import { buildProgram } from '../../src/cli/main.ts';

/** Returns the path of each command: the words that name it, outermost first. */
function pathsOf(commands: CommandTable, before: readonly string[] = []): string[][] {
  return Object.entries(commands).flatMap(([name, { below = {} }]) => [
    [...before, name],
    ...pathsOf(below, [...before, name]),
  ]);
}

function find(program: Command, path: readonly string[]): Command {
  return path.reduce((command, name) => {
    const found = command.commands.find((each) => each.name() === name);
    if (!found) throw new Error(`No command "${name}".`);
    return found;
  }, program);
}

/** Returns what a list of commands shows of one command. */
function mention(command: Command) {
  const usage = command.usage().replace('[options]', '').trim();
  return {
    name: command.name(),
    alias: command.alias(),
    group: command.helpGroup(),
    summary: command.summary(),
    usage,
  };
}

/** Returns what is refused, or nothing. */
function tryParse(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the command table', () => {
  it.each(pathsOf(COMMANDS).map((path) => [path.join(' '), path] as const))(
    'lists "%s" as the command describes itself',
    async (_name, path) => {
      const [listed, loaded] = [
        await buildProgram({ exitCode: 0 }, path.slice(0, -1)),
        await buildProgram({ exitCode: 0 }, path),
      ];
      expect(mention(find(listed, path))).toEqual(mention(find(loaded, path)));
    },
  );

  it('loads the read commands from one file, and no others', async () => {
    const parts = new Set<unknown>(Object.values(reading));
    for (const path of pathsOf(COMMANDS)) {
      const command = namedCommands(path).at(-1);
      // A command with others below it needs no file.
      const isPart = command?.below ? command.reads : parts.has(await command?.load());
      expect([path, isPart]).toEqual([path, command?.reads === true]);
    }
  });

  it.each(pathsOf(COMMANDS).map((path) => [path.join(' '), path] as const))(
    'refuses a blank value of every option of "%s"',
    async (_name, path) => {
      const { options } = find(await buildProgram({ exitCode: 0 }, path), path);
      for (const { required, optional, parseArg, long } of options) {
        if (!required && !optional) continue;
        expect([long, tryParse(() => parseArg?.('', undefined))]).toEqual([
          long,
          expect.stringMatching(/^Give a value/),
        ]);
      }
    },
  );

  it('finds a command by its alias, and after options', () => {
    expect(namedCommands(['thread', 'list', '--json'])).toEqual([
      COMMANDS.threads,
      COMMANDS.threads?.below?.list,
    ]);
    expect(namedCommands(['--help', 'dev'])).toEqual([COMMANDS.dev]);
    expect(namedCommands(['--help'])).toEqual([]);
    expect(namedCommands(['nothing', 'list'])).toEqual([]);
  });
});
