/** A tool that tells the weather, for tests of the page. */
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';

export const weatherTools = (result = 'sunny') => ({
  weather: defineTool({
    description: 'tells the weather',
    args: z.object({ city: z.string() }),
    execute: async () => ({ status: 'success', result }),
  }),
});
