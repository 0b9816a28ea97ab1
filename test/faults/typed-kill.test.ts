/** Typed answers while workers die; `typed-kill.soak.ts` is the long form. */
import { describeTypedKill } from './typed-ordeal.ts';

describeTypedKill({ threads: 3, kills: 3 });
