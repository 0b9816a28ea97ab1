import { defineTool } from 'everthread';
import { z } from 'zod';

export default defineTool({
  description: 'Refunds an order.',
  args: z.object({ id: z.string(), cents: z.int() }),
  confirm: ({ id, cents }) => `Refund ${cents} cents of order ${id}?`,
  execute: async (state, { id, cents }) => {
    await state.setValue('refunded', { id, key: state.idempotencyKey });
    return { status: 'success', result: `refunded ${cents} cents of ${id}` };
  },
});
