/** With a death for each place. */
import './step-behind-kill.test.ts';
