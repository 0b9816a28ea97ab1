/** The long form of step-behind-kill.test.ts: one death for each place. */
import './step-behind-kill.test.ts';
