/** What a worker or `dev` tells people while it runs: a sentence, or a line of its log where that is JSON. */
import { readConfiguration } from '../../configuration.ts';
import { createLogger } from './logger.ts';
import { note } from './output.ts';

export interface Announcement {
  /** For people. */
  readonly text: string;
  /** For programs, with its fields; the text, unless given. */
  readonly message?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export function announce({ text, message = text, fields }: Announcement): void {
  const { log } = readConfiguration();
  if (log.format === 'json') createLogger(log).info(message, fields);
  else note(text);
}
