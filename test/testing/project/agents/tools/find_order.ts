import { defineTool } from 'everthread';
import { z } from 'zod';

export default defineTool({
  description: 'Finds an order.',
  args: z.object({ id: z.string() }),
  variables: [{ name: 'SHOP_KEY', type: 'secret', required: true, description: 'Opens the shop.' }],
  quick: true,
  execute: async (state, { id }) => {
    const key = await state.env('SHOP_KEY');
    await state.setValue('last_order', id);
    return { status: 'success', result: `Order ${id} is on its way (${key.length} characters).` };
  },
});
