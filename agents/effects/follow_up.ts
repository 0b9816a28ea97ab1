/**
 * Checks some time after a publication whether the entry is on the bulletin. It runs however that call ended and
 * whatever happened to the worker that scheduled it, and reports to the librarian in a message.
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
