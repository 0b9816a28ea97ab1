/** A command as lists of commands show it, before its file is loaded. */
import type { Command } from 'commander';
import type { Cli } from './command.ts';

/** As lists show it. */
export interface ListedCommand {
  readonly name: string;
  readonly alias?: string;
  readonly group?: string;
  readonly summary: string;
  /** As usage writes them: `<thread> [text]`; `…` of a command that has others below it. */
  readonly usage?: string;
  readonly reads?: boolean;
  readonly below?: readonly ListedCommand[];
  /** Adds it, and all below it unless `below` lists them, to its parent. */
  readonly load: () => Promise<(parent: Command, cli: Cli) => void>;
}

/** The usage of a command that has others below it. */
export const GROUP = '[command]';
