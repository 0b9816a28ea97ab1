import { defineTool } from '@standardagents/builder';
import { z } from 'zod';
import { describePlace } from './places.ts';

export default defineTool({
  description: 'Looks a place up.',
  args: z.object({ place: z.string(), depth: z.number().default(1), filter: z.unknown().optional() }),
  execute: async (_state, { place, depth }) => ({
    status: 'success',
    result: depth > 1 ? describePlace(place) : place,
  }),
});
