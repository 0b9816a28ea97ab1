import { defineEffect } from '@standardagents/spec';
import { z } from 'zod';

export default defineEffect(
  'Keeps a reminder.',
  z.object({ about: z.string() }),
  async (state, { about }) => {
    await state.setValue('reminder', about);
  },
);
