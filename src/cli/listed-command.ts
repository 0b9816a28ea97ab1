/** A command as lists of commands show it, before its file is loaded. */
import type { Command } from 'commander';
import type { Cli } from './command.ts';

/** What lists show of a command, and how it is loaded. */
export interface ListedCommand {
  readonly name: string;
  readonly alias?: string;
  readonly group?: string;
  readonly summary: string;
  /** Arguments as usage shows them: `<thread> [text]`; `GROUP` for a command that has others below it. */
  readonly usage?: string;
  readonly reads?: boolean;
  readonly below?: readonly ListedCommand[];
  /** Loads the function that adds the command to its parent, with all below it unless `below` lists them. */
  readonly load: () => Promise<(parent: Command, cli: Cli) => void>;
}

/** The usage of a command that has others below it. */
export const GROUP = '[command]';
