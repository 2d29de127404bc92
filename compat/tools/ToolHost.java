import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.utils.Exit;
import org.slf4j.LoggerFactory;

/**
 * Runs Kafka's command line tools one after another in one JVM, since each start of one costs a second or two.
 *
 * <p>Reads a JSON line a run, {"main": class, "args": [...], "input": text, "patience_ms": time}, and answers one,
 * {"exit": code, "output": text}: what the tool wrote to standard output and error, in the order in which it was
 * written. A tool that does not end is {"exit": null}.
 */
public final class ToolHost {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Thrown where a tool ends the process. */
    private static final class Exited extends Error {
        private static final long serialVersionUID = 1;
    }

    /** One stream for good, because Scala's println keeps the first that it sees; the run that owns it changes. */
    private static final class Output extends OutputStream {
        private ByteArrayOutputStream written = new ByteArrayOutputStream();
        private boolean open;

        @Override
        public synchronized void write(int one) {
            if (open) {
                written.write(one);
            }
        }

        @Override
        public synchronized void write(byte[] bytes, int from, int length) {
            if (open) {
                written.write(bytes, from, length);
            }
        }

        synchronized void begin() {
            written = new ByteArrayOutputStream();
            open = true;
        }

        synchronized void open() {
            open = true;
        }

        /** What a tool says after its exit, a process would not have said. */
        @Override
        public synchronized void close() {
            open = false;
        }

        synchronized String text() {
            return written.toString(StandardCharsets.UTF_8);
        }
    }

    private static final Output OUTPUT = new Output();

    public static void main(String[] ignored) throws Exception {
        var answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        var stream = new PrintStream(OUTPUT, true, StandardCharsets.UTF_8);
        // Kafka's log goes to the real standard error: its appender opened that before.
        LoggerFactory.getLogger(ToolHost.class).debug("appenders are open");
        System.setOut(stream);
        System.setErr(stream);
        var runs = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = runs.readLine(); line != null; line = runs.readLine()) {
            answers.println(JSON.writeValueAsString(run(JSON.readTree(line))));
        }
        Runtime.getRuntime().halt(0);
    }

    private static Map<String, Object> run(JsonNode wanted) throws Exception {
        var exit = new AtomicInteger(-1);
        Exit.Procedure procedure = (code, message) -> {
            exit.compareAndSet(-1, code);
            if (message != null) {
                System.err.println(message);
            }
            OUTPUT.close();
            throw new Exited();
        };
        Exit.setExitProcedure(procedure);
        Exit.setHaltProcedure(procedure);
        var atExit = new ConcurrentLinkedQueue<Runnable>();
        Exit.setShutdownHookAdder((name, hook) -> atExit.add(hook));
        System.setIn(new ByteArrayInputStream(wanted.path("input").asText().getBytes(StandardCharsets.UTF_8)));
        OUTPUT.begin();
        var args = JSON.convertValue(wanted.get("args"), String[].class);
        var main = Class.forName(wanted.get("main").asText()).getMethod("main", String[].class);
        var process = new ThreadGroup("process");
        var thread = new Thread(process, () -> call(main, args, exit, atExit), "main");
        thread.start();
        var ended = awaitEnd(thread, process, exit, wanted.get("patience_ms").asLong());
        OUTPUT.close();
        var answer = new HashMap<String, Object>();
        answer.put("exit", ended ? Math.max(exit.get(), 0) : null);
        answer.put("output", OUTPUT.text());
        return answer;
    }

    /** A process ends when it exits, or when the last of its threads ends that is no daemon. */
    private static boolean awaitEnd(Thread main, ThreadGroup process, AtomicInteger exit, long patienceMs)
            throws InterruptedException {
        var deadline = System.nanoTime() + patienceMs * 1_000_000;
        main.join(patienceMs);
        while (System.nanoTime() < deadline) {
            if (!main.isAlive() && (exit.get() >= 0 || !isBusy(process))) {
                return true;
            }
            Thread.sleep(5);
        }
        return false;
    }

    private static boolean isBusy(ThreadGroup process) {
        var threads = new Thread[process.activeCount() + 16];
        var count = process.enumerate(threads);
        return Arrays.stream(threads, 0, count).anyMatch(thread -> !thread.isDaemon());
    }

    /** As the JVM calls main: what it throws is printed, and the exit is 1. */
    private static void call(Method main, String[] args, AtomicInteger exit, Queue<Runnable> atExit) {
        try {
            main.invoke(null, (Object) args);
        } catch (InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Exited)) {
                exit.compareAndSet(-1, 1);
                System.err.print("Exception in thread \"main\" ");
                thrown.getCause().printStackTrace();
            }
        } catch (IllegalAccessException fault) {
            throw new IllegalStateException(fault);
        } finally {
            // The producers send what they hold when the process ends, and tell of it.
            OUTPUT.open();
            atExit.forEach(Runnable::run);
        }
    }
}
