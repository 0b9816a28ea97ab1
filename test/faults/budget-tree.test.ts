/**
 * A tree of 13 threads and its budget, with two deaths of workers. `npm run test:soak -- budget-tree` has many deaths.
 */
import { describeBudgetTree } from './budget-tree-ordeal.ts';

describeBudgetTree(2);
