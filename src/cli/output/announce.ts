/** Reports what a worker or `dev` does: as a sentence, or as a log line if the log's format is JSON. */
import { readConfiguration } from '../../configuration.ts';
import { createLogger } from './logger.ts';
import { note } from './output.ts';

export interface Announcement {
  /** Sentence for people. */
  readonly text: string;
  /** Message for programs, with its fields. Default: `text`. */
  readonly message?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export function announce({ text, message = text, fields }: Announcement): void {
  const { log } = readConfiguration();
  if (log.format === 'json') createLogger(log).info(message, fields);
  else note(text);
}
