/**
 * Looks after an entry some time after it was to be published: is it on the bulletin? It comes however that call ended and
 * whatever became of the worker that scheduled it, and what it finds goes to the librarian as a message.
 */
import { defineEffect } from 'everthread';
import { z } from 'zod';
import { readEntries } from '../tools/_bulletin.ts';

export default defineEffect(
  'Checks that an entry is on the bulletin, and tells the librarian',
  z.object({ title: z.string(), key: z.string() }),
  async (state, { title, key }) => {
    const entry = (await readEntries()).find((each) => each.key === key);
    const found = entry
      ? `it is on the bulletin${entry.signature ? ', signed' : ''}`
      : 'it is not on the bulletin';
    await state.queueMessage({ content: `Follow-up: I looked for the entry "${title}", and ${found}.` });
  },
);
