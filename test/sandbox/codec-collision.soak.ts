/** The long form: a program that pays seconds for its keys. */
import './codec-collision.test.ts';
