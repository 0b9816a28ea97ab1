/**
 * Writes a backend's events to the log, in order. Pieces of text are joined while the one before them is being written,
 * so that a fast backend does not wait for the disk.
 */
import type { ActContext } from '../../core/author/task.ts';
import type { TaskEmission } from '../../core/task/emission.ts';

/** Greatest number of characters in one row, so that it stays within the size limit of an emission. */
const MAX_PIECE_CHARS = 16_000;

export interface TaskEmitter {
  tell(event: TaskEmission): Promise<void>;
  /** The text of all `text_delta` events that was not discarded. */
  text(): string;
}

export function openTaskEmitter({ emit }: Pick<ActContext, 'emit'>): TaskEmitter {
  let text = '';
  let due = '';
  let kind: 'text_delta' | 'reasoning_delta' = 'text_delta';
  let writing: Promise<void> = Promise.resolve();
  let failure: unknown;
  const write = () => {
    writing = writing.then(async () => {
      while (due !== '' && failure === undefined) {
        const piece = due.slice(0, MAX_PIECE_CHARS);
        due = due.slice(MAX_PIECE_CHARS);
        await emit({ type: kind, text: piece }).catch((error: unknown) => {
          failure = error;
        });
      }
    });
  };
  const written = async () => {
    await writing;
    if (failure !== undefined) throw failure;
  };
  return {
    async tell(event) {
      if (event.type === 'text_delta' || event.type === 'reasoning_delta') {
        if (event.type !== kind) await written();
        kind = event.type;
        if (event.type === 'text_delta') text += event.text;
        const idle = due === '';
        due += event.text;
        if (idle) write();
        if (failure !== undefined) throw failure;
        return;
      }
      await written();
      if (event.type === 'text_discarded') text = '';
      await emit(event);
    },
    text: () => text,
  };
}
