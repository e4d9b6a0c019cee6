import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;

/** Compiles again and again in one process: the path of a file of arguments a line in, errors and a line with NUL out. */
public class KotlincServer {
    public static void main(String[] given) throws Exception {
        PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        // Keeps what is read from jars between compilations.
        System.setProperty("kotlin.environment.keepalive", "true");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            new K2JVMCompiler().exec(output, "@" + line);
            output.print("\0\n");
            output.flush();
        }
    }
}
