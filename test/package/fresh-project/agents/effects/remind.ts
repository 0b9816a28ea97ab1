import { defineEffect, type MessagePage } from 'everthread';
import { z } from 'zod';

export default defineEffect('Reminds.', z.object({ text: z.string() }), async (state, { text }) => {
  const page: MessagePage = await state.getMessages({ limit: 1 });
  await state.queueMessage({ role: 'user', content: `${page.total}: ${text}` });
});
