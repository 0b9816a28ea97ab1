/** Moves money, so the cashier's policy has a person asked first, who is shown what `prepareAction` says: that is done, or nothing. */
import { defineTool } from 'everthread';
import { z } from 'zod';
import { payRefund } from './_till.ts';

export default defineTool({
  description: 'Refunds a fare to the card that paid it. Cannot be undone.',
  args: z.object({
    booking: z
      .string()
      .regex(/^[A-Z]{2}-\d{4}$/)
      .describe('Such as LF-2207'),
    euros: z.number().positive().max(500),
  }),
  capabilities: ['money.refund'],
  prepareAction: ({ booking, euros }) => ({ description: `refund ${euros} euros for booking ${booking}` }),
  execute: async (state, { booking, euros }) => {
    await payRefund(state.idempotencyKey ?? state.threadId, { booking, euros });
    return {
      status: 'success',
      result: `${euros} euros for ${booking} are on their way to the card that paid.`,
    };
  },
});
